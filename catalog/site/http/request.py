"""Context of one request: rights, parameters, catalog, and the form of its response."""

import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote, unquote, urlsplit

from datasette.database import Database, QueryInterrupted
from datasette.utils import sqlite_timelimit
from datasette.utils.asgi import Response

from catalog.database.connection import REBUILT, is_damage
from catalog.reading import browse
from catalog.site.http import (
    errors,
    header_health,
    host_names,
    reader_tokens,
    responses,
    security_headers,
)
from catalog.site.http import location as http_catalog
from catalog.site.http.quick_reader import LIMIT_MS
from catalog.site.http.slots import AllTaken
from catalog.site.rendering import templates

T = TypeVar("T")
_FORWARDED = {"forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"}
"""Headers that a proxy adds."""
LONGEST_NUMBER = 9
"""Digits of a number in a path or query; a longer one cannot be an id."""


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A request, and the catalog that answers it."""

    datasette: Any
    request: Any
    location: http_catalog.CatalogLocation
    health: header_health.HeaderHealth | None = None
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

    async def require_permission(self) -> None:
        """Raise Forbidden if the visitor may not see the catalog."""
        await self.datasette.ensure_permissions(
            self.request.actor, [("view-database", self.location.database.name), "view-instance"]
        )

    async def query(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call a function with the catalog, on Datasette's read-only connection.

        Raises QueryInterrupted after Datasette's time limit.
        """
        limit = self.datasette.sql_time_limit_ms
        try:
            return await _run(self.location.database, limit, function, arguments, named)
        except sqlite3.OperationalError as error:
            if error.args == ("interrupted",):
                raise QueryInterrupted(error, function.__name__, arguments) from error
            raise

    async def look_up(self, function: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Call a function as `query` does, but on this thread if it has been quick.

        It must be one of a module, and must not wait for other threads.
        """
        quick, limit = self.location.quick, min(LIMIT_MS, self.datasette.sql_time_limit_ms)
        if quick.is_quick(function):
            with suppress(sqlite3.OperationalError), quick.watching(function):
                return await _run(quick.database, limit, function, arguments, named)
        return await self.query(function, *arguments, **named)

    def count_skill(self, skill_id: str, version: str) -> None:
        """Count a read of a version of a skill; a request for the head alone is none."""
        if self.location.counter and self.request.method != "HEAD":
            self.location.counter.count_skill(skill_id, version, "http")

    def count_index(self, name: str) -> None:
        """Count a read of a prompt index; a request for the head alone is none."""
        if self.location.counter and self.request.method != "HEAD":
            self.location.counter.count_index(name, "http")

    @property
    def is_local(self) -> bool:
        """Whether the reader is surely on this machine, so that paths of its disk are of use.

        A proxy on this machine is no such reader.
        """
        client = (self.request.scope.get("client") or ("",))[0]
        host = urlsplit(f"//{self.request.host}").hostname or ""
        return (
            all(map(host_names.is_loopback, (client, host)))
            and not _FORWARDED & set(self.request.headers)
            and not http_catalog.setting(self.datasette, "url", "")
        )

    def path(self, path: str) -> str:
        """Return a path of this site, with the prefix of a proxy and the token of the request."""
        return str(self.datasette.urls.path(reader_tokens.prefix(self.request.scope) + path))

    def url(self, path: str) -> str:
        """Return the URL of a path that `path` returned.

        It begins with the configured URL of the site, or else with the address of the request.
        """
        public = urlsplit(http_catalog.setting(self.datasette, "url", "") or self.request.url)
        return f"{public.scheme}://{public.netloc}{path}"

    def skill_path(self, skill_id: str, rest: str = "") -> str:
        """Return the path of a skill's page, or a path below it."""
        return self.path(f"/skills/{quote(skill_id, safe='')}{quote(rest)}")

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """Return a page rendered from one of the site's templates."""
        return self.of_html(self.rendered(template, **values), status)

    def rendered(self, template: str, **values: Any) -> bytes:
        """Return a page as HTML."""
        return templates.render(template, self, values).encode("utf-8", "replace")

    def of_html(self, html: bytes, status: int = 200) -> Response:
        """Return HTML under the policy of the site's pages."""
        return responses.of_bytes(
            self.request,
            html,
            responses.HTML,
            status=status,
            headers={"Content-Security-Policy": security_headers.OURS},
        )

    def not_found(self, message: str, near: Sequence[tuple[str, str]] = ()) -> Response:
        """Return the page for a missing skill, file or other item.

        near has the names and addresses of items that may be meant.
        """
        return self.page("error.html", status=404, title="Not found", message=message, near=near)

    def redirect(self, path: str) -> Response:
        """Return a redirect to a path that `path` returned, for now."""
        return Response.redirect(path, 302)


async def _run(
    database: Database,
    limit: int,
    function: Callable[..., T],
    arguments: Sequence[Any],
    named: Mapping[str, Any],
) -> T:
    """Call a function with a catalog, for at most `limit` milliseconds."""

    def run(connection: sqlite3.Connection) -> T:
        with sqlite_timelimit(connection, limit):
            return function(browse.over(connection), *arguments, **named)

    result: T = await database.execute_fn(run)
    return result


View: TypeAlias = Callable[[RequestContext], Awaitable[Response]]


def guarded(view: View, *, is_open: bool = False) -> Callable[..., Awaitable[Response]]:
    """Return the view in the form that Datasette calls, restricted to permitted visitors.

    A view with is_open is public, whatever the configuration allows.
    """

    async def respond(datasette: Any, request: Any) -> Response:
        location = http_catalog.find(datasette)
        if not location:
            return errors.refusal(datasette, request.path, "This site has no catalog.", 503)
        context = RequestContext(datasette, request, location)
        if not is_open:
            await context.require_permission()
        try:
            if not is_open and not errors.is_json_route(datasette, request.path):
                context = replace(context, health=await header_health.current(location))
            return await view(context)
        except (QueryInterrupted, AllTaken):
            message = "The catalog is busy, or the query is too large. Try again."
            if errors.is_json_route(datasette, request.path):
                return errors.as_json(message, 503, {"Retry-After": "5"})
            return context.page(
                "error.html", status=503, title="Request timed out", message=message
            )
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            return damaged(context, error)

    return respond


def damaged(context: RequestContext, error: BaseException) -> Response:
    """Return the answer of a site whose catalog cannot be read."""
    message = f"{REBUILT} SQLite says: {error}."
    if errors.is_json_route(context.datasette, context.request.path):
        return errors.as_json(f"The catalog is damaged. {message}", 503)
    return context.page("error.html", status=503, title="The catalog is damaged", message=message)
