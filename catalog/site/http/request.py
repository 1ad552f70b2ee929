"""Context of one request: rights, parameters, catalog, and the form of its response."""

import sqlite3
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar
from urllib.parse import quote, unquote

from datasette.database import QueryInterrupted
from datasette.utils import sqlite_timelimit
from datasette.utils.asgi import Response

from catalog.database.connection import REBUILT, is_damage
from catalog.reading import browse
from catalog.site.http import errors, responses, security_headers
from catalog.site.http import location as http_catalog
from catalog.site.http.slots import AllTaken
from catalog.site.rendering import templates

T = TypeVar("T")
LONGEST_NUMBER = 9
"""Digits of a number in a path or query; a longer one is no id."""


@dataclass(frozen=True, slots=True)
class RequestContext:
    """A request, and the catalog that it is about."""

    datasette: Any
    request: Any
    location: http_catalog.CatalogLocation

    def path_part(self, name: str) -> str:
        """Return a part of the path, decoded; what is no UTF-8 in it becomes U+FFFD."""
        return unquote(self.request.url_vars[name], errors="replace")

    def parameter(self, name: str) -> str:
        """Return a parameter of the query; empty where it was not given."""
        return (self.request.args.get(name) or "").encode("utf-8", "replace").decode()

    def number(self, name: str) -> int | None:
        """Return a parameter as a positive number; None where it is none."""
        given = self.parameter(name)
        is_number = given.isascii() and given.isdigit() and len(given) <= LONGEST_NUMBER
        return int(given) or None if is_number else None

    async def query(self, question: Callable[..., T], *arguments: Any, **named: Any) -> T:
        """Ask a question of the catalog on Datasette's own read-only connection, in good time.

        Raises QueryInterrupted where it takes longer than Datasette's time limit.
        """
        limit = self.datasette.sql_time_limit_ms

        def asking(connection: sqlite3.Connection) -> T:
            with sqlite_timelimit(connection, limit):
                try:
                    return question(browse.over(connection), *arguments, **named)
                except sqlite3.OperationalError as error:
                    if error.args == ("interrupted",):
                        raise QueryInterrupted(error, question.__name__, arguments) from error
                    raise

        answer: T = await self.location.database.execute_fn(asking)
        return answer

    def path(self, path: str) -> str:
        """Return a path of this site, below the prefix under which a proxy shows it."""
        return str(self.datasette.urls.path(path))

    def skill_path(self, skill_id: str, rest: str = "") -> str:
        """Return the path of a skill's page, or of what lies below it."""
        return self.path(f"/skills/{quote(skill_id, safe='')}{quote(rest)}")

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:
        """Return a page made from one of the site's templates."""
        html = templates.render(template, self, values)
        return responses.of_bytes(
            self.request,
            html.encode("utf-8", "replace"),
            responses.HTML,
            status=status,
            headers={"Content-Security-Policy": security_headers.OURS},
        )

    def not_found(self, what: str) -> Response:
        """Return the page that says what there is not."""
        return self.page("error.html", status=404, title="Not here", message=what)


View: TypeAlias = Callable[[RequestContext], Awaitable[Response]]


def guarded(view: View, *, is_open: bool = False) -> Callable[..., Awaitable[Response]]:
    """Return the view as Datasette calls it: read-only, for those who may see the catalog.

    One that is_open is for everyone, whatever the configuration allows.
    """

    async def answer(datasette: Any, request: Any) -> Response:
        found = http_catalog.find(datasette)
        if not found:
            return errors.refusal(datasette, request.path, "There is no catalog here.", 503)
        context = RequestContext(datasette, request, found)
        if not is_open:
            await datasette.ensure_permissions(
                request.actor, [("view-database", found.database.name), "view-instance"]
            )
        try:
            return await view(context)
        except (QueryInterrupted, AllTaken):
            message = "The catalog is busy, or the question too large. Try again."
            if errors.is_json_route(datasette, request.path):
                return errors.as_json(message, 503, {"Retry-After": "5"})
            return context.page(
                "error.html", status=503, title="That took too long", message=message
            )
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            message = f"{error}. {REBUILT}"
            if errors.is_json_route(datasette, request.path):
                return errors.as_json(message, 503)
            return context.page(
                "error.html", status=503, title="The catalog is damaged", message=message
            )

    return answer
