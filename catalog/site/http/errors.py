"""Error responses: a page for people, JSON on routes that return JSON."""

import re
from collections.abc import Mapping
from typing import Any

from datasette.utils import tilde_decode
from datasette.utils.asgi import Base400, Response
from datasette.views.base import DatasetteError

from catalog.site.http import responses

_JSON_ROUTE = re.compile(
    r"\.jsono?$|^/-/(?:healthz|metrics)$|^/index/[^/]+$|^/skills/[^/]+/preview$"
    r"|/\.well-known/[^/]+/index\.json$"
)


def is_json_route(datasette: Any, path: str) -> bool:
    """Return whether a path returns JSON, or text for programs."""
    return bool(
        _JSON_ROUTE.search(
            f"/{path.removeprefix(datasette.setting('base_url'))}".replace("//", "/")
        )
    )


def as_json(message: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error for a program."""
    return Response.json(
        {"ok": False, "error": message, "status": status},
        status=status,
        headers={"Cache-Control": "no-cache", **(headers or {})},
    )


def refusal(
    datasette: Any, path: str, message: str, status: int, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an error of one sentence: JSON on a JSON route, plain text elsewhere."""
    if is_json_route(datasette, path):
        return as_json(message, status, headers)
    return Response(f"{message}\n", status, dict(headers or {}), responses.TEXT)


async def correct_status(exception: Exception, database: Any, path: str | None) -> None:
    """Make the error for a row of a missing table a 404; Datasette reports it as invalid SQL.

    path is the part of the request's path below the database.
    """
    if not isinstance(exception, DatasetteError) or not path or "/" not in path:
        return
    table = tilde_decode(path.partition("/")[0])
    if not await database.table_exists(table) and table not in await database.view_names():
        exception.status, exception.title = 404, None
        exception.message, exception.message_is_html = f"Table not found: {table}", False


def of_exception(exception: Exception) -> Response:
    """Return an exception of Datasette as an error for programs, without details of bugs."""
    if isinstance(exception, Base400):
        return as_json(str(exception.args[0]), exception.status)
    if isinstance(exception, DatasetteError) and exception.status < 500:
        message = (
            "The query took too long." if exception.message_is_html else str(exception.message)
        )
        return as_json(message, exception.status)
    return as_json("Internal error. The log of the site has the details.", 500)
