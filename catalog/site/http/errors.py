"""Errors as the site answers them: a page for people, JSON wherever the answer would be JSON."""

import re
from collections.abc import Mapping
from typing import Any

from datasette.utils.asgi import Base400, Response
from datasette.views.base import DatasetteError

from catalog.site.http import responses

_JSON_ROUTE = re.compile(
    r"\.jsono?$|^/-/healthz$|^/index/[^/]+$|^/skills/[^/]+/preview$|^/\.well-known/"
)


def is_json_route(datasette: Any, path: str) -> bool:
    """Tell whether the answer at a path is JSON, or text for programs."""
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
    """Return an error in one sentence: JSON on a JSON route, plain text elsewhere."""
    if is_json_route(datasette, path):
        return as_json(message, status, headers)
    return Response(f"{message}\n", status, dict(headers or {}), responses.TEXT)


def of_exception(exception: Exception) -> Response:
    """Return what an exception of Datasette means to a program; of bugs it tells nothing."""
    if isinstance(exception, Base400):
        return as_json(str(exception.args[0]), exception.status)
    if isinstance(exception, DatasetteError) and exception.status < 500:
        message = (
            "The query took too long." if exception.message_is_html else str(exception.message)
        )
        return as_json(message, exception.status)
    return as_json("Something went wrong; the log of the site says what.", 500)
