"""Context of one request: rights, parameters, catalog, and the form of its response."""

import hashlib
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote, unquote, urlsplit

from datasette import Forbidden, Response

from catalog.database.connection import REBUILT, is_damage
from catalog.database.queries import Database
from catalog.model.errors import FilterInvalid, NotInCatalog
from catalog.model.values import VERSION
from catalog.prompt_index.query import one_moment
from catalog.reading import activity, disk_paths, service_health
from catalog.site import address
from catalog.site.http import access, limits, responses, security_headers
from catalog.site.http import location as http_location
from catalog.site.rendering import templates
from catalog.usage.database import Route

T = TypeVar("T")
_FORWARDED = {"forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"}
"""Headers that a proxy adds."""
LONGEST_NUMBER = 9
"""Digits of a number in a path or query; a longer one cannot be an id."""


@dataclass(frozen=True, slots=True)
class HeaderHealth:
    """Health in a few words, with a sentence if it is bad, the newest change, and what waits.

    The change is at most as new as the things that the page shows: it is looked up before them.
    """

    tone: service_health.Tone
    line: str
    sentence: str
    newest_change: int
    to_review: int  # versions that wait for a person


@dataclass(frozen=True)
class RequestContext:
    """A request, and the catalog that answers it."""

    datasette: Any
    request: Any
    location: http_location.CatalogLocation
    health: HeaderHealth | None = None
    """Health for the header of a page; None on a route without one."""

    def path_part(self, name: str) -> str:
        """Return a part of the path, decoded; invalid UTF-8 becomes U+FFFD."""
        return unquote(self.request.url_vars[name], errors="replace")

    def parameter(self, name: str) -> str:
        """Return a parameter of the query string; empty if it is missing."""
        return (self.request.args.get(name) or "").encode("utf-8", "replace").decode()

    def parameters(self, name: str) -> list[str]:
        """Return all values of a parameter of the query string."""
        return [
            text.encode("utf-8", "replace").decode() for text in self.request.args.getlist(name)
        ]

    def number(self, name: str) -> int | None:
        """Return a parameter as a positive number; None if it is not one."""
        value = self.parameter(name)
        is_number = value.isascii() and value.isdigit() and len(value) <= LONGEST_NUMBER
        return int(value) or None if is_number else None

    async def may_see(self) -> bool:
        """Return whether the visitor may see the catalog."""
        return await http_location.may_see(
            self.datasette, self.request.actor, self.location.database.name
        )

    async def query(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call a function with the catalog, which stays the same for all its statements.

        Raises TooSlow after Datasette's time limit.
        """
        return await _query(self.datasette, self.location, function, *arguments, **named)

    def count_skill(self, skill_id: str, version: str, route: Route = "http") -> None:
        """Count a read of a version of a skill; a request for the head alone is none."""
        if self.location.counter and self.request.method != "HEAD":
            self.location.counter.count_skill(skill_id, version, route)

    @cached_property
    def is_local(self) -> bool:
        """Whether the reader is on this machine, so that paths of its disk help; a proxy is not."""
        client = (self.request.scope.get("client") or ("",))[0]
        host = urlsplit(f"//{self.request.host}").hostname or ""
        return (
            all(map(address.is_loopback, (client, host)))
            and not _FORWARDED & set(self.request.headers)
            and not http_location.setting(self.datasette, "url", "")
        )

    @cached_property
    def _above(self) -> str:
        """The prefix of a proxy and the token of the request, before all paths of this site."""
        return str(self.datasette.urls.path(access.prefix(self.request.scope) + "/"))[:-1]

    def path(self, path: str) -> str:
        """Return a path of this site, as clients ask for it."""
        return f"{self._above}{path}"

    def url(self, path: str) -> str:
        """Return the URL of a path that `path` returned.

        It begins with the configured URL of the site, or else with the address of the request.
        """
        return f"{self._origin}{path}"

    @cached_property
    def _origin(self) -> str:
        public = urlsplit(http_location.setting(self.datasette, "url", "") or self.request.url)
        return f"{public.scheme}://{public.netloc}"

    def skill_path(self, skill_id: str, rest: str = "") -> str:
        """Return the path of a skill's page, or a path below it."""
        return self.path(f"/skills/{quote(skill_id, safe='')}{quote(rest)}")

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """Return a page from one of the site's templates, under the policy of its pages."""
        html = templates.render(template, self, values).encode("utf-8", "replace")
        policy = {"Content-Security-Policy": security_headers.OURS}
        return responses.of_bytes(self.request, html, responses.HTML, status=status, headers=policy)

    def not_found(self, message: str, near: Sequence[tuple[str, str]] = ()) -> Response:
        """Return the page for a missing skill, file or other item.

        near has the names and addresses of items that may be meant.
        """
        return self.page("error.html", status=404, title="Not found", message=message, near=near)


async def _query(
    datasette: Any,
    location: http_location.CatalogLocation,
    function: Callable[..., T],
    *arguments: Any,
    **named: Any,
) -> T:
    def run(connection: sqlite3.Connection) -> T:
        with limits.statements(connection, datasette.setting("sql_time_limit_ms")):
            db = Database(connection)
            with one_moment(db):
                return function(db, *arguments, **named)

    result: T = await location.database.execute_fn(run)
    return result


async def header_health(
    datasette: Any, location: http_location.CatalogLocation
) -> HeaderHealth | None:
    """Return the health of a catalog; None if it cannot be read."""

    def load(db: Database) -> HeaderHealth:
        state, now = service_health.load(db), datetime.now(UTC)
        summary = service_health.summary(state, now)
        line = service_health.headline(state, summary, now)
        sentence = ""
        if summary.tone == "bad":
            folders = [*disk_paths.disk_folders(db), str(location.catalog.absolute().parent)]
            worst = (summary.details or (summary.sentence,))[0]
            sentence = disk_paths.shortened_paths(worst, folders)
        newest = activity.newest_change(db)
        return HeaderHealth(summary.shown_tone, line, sentence, newest, state["to_review"])

    try:
        return await _query(datasette, location, load)
    except (sqlite3.DatabaseError, limits.TooSlow):
        return None


View: TypeAlias = Callable[[RequestContext], Awaitable[Response]]


def guarded(
    view: View, post: View | None = None, *, is_open: bool = False
) -> Callable[..., Awaitable[Response]]:
    """Return the view in the form that Datasette calls, restricted to permitted visitors.

    post answers POST. A view with is_open is always public.
    """

    async def respond(datasette: Any, request: Any) -> Response:
        location = http_location.find(datasette)
        if not location:
            return responses.refusal(datasette, request.path, "This site has no catalog.", 503)
        context = RequestContext(datasette, request, location)
        if not is_open and not await context.may_see():
            raise Forbidden("view-database")
        try:
            if post and request.method == "POST":
                return await post(context)
            if is_open or responses.is_json_route(datasette, request.path):
                return await view(context)
            health = await header_health(datasette, location)
            return await _page(view, replace(context, health=health))
        except NotInCatalog as error:
            return context.not_found(str(error))
        except FilterInvalid as error:
            title = "This filter does not work"
            return context.page("error.html", status=400, title=title, message=str(error))
        except (limits.TooSlow, limits.Busy):
            message = "The catalog is busy, or the query is too large. Try again."
            if responses.is_json_route(datasette, request.path):
                return responses.of_error(message, 503, {"Retry-After": "5"})
            return context.page(
                "error.html", status=503, title="Request timed out", message=message
            )
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            return damaged(context, error)

    return respond


async def _page(view: View, context: RequestContext) -> Response:
    """Return a page, or 304 to a client whose copy is of the present state of the catalog."""
    request, state = context.request, context.location.state()
    facts = (VERSION, state, request.full_path, context.health, context.is_local)
    etag = hashlib.sha256(repr(facts).encode()).hexdigest()[:32]
    is_known = request.headers.get("if-none-match", "*").strip() != "*"
    if is_known and responses.is_known(request, etag):
        return Response(b"", 304, {"ETag": f'W/"{etag}"', "Cache-Control": "no-cache"})
    response = await view(context)
    is_html = isinstance(response, Response) and response.content_type == responses.HTML
    if is_html and response.status == 200:
        response.headers.setdefault("ETag", f'W/"{etag}"')
    return response


def damaged(context: RequestContext, error: BaseException) -> Response:
    """Return the answer of a site whose catalog cannot be read."""
    message = f"{REBUILT} SQLite says: {error}."
    if responses.is_json_route(context.datasette, context.request.path):
        return responses.of_error(f"The catalog is damaged. {message}", 503)
    return context.page("error.html", status=503, title="The catalog is damaged", message=message)
