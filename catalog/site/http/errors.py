"""Error responses: a page for people, JSON on routes that return JSON."""

import logging
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from datasette import Response

from catalog.site.http import responses

log = logging.getLogger("skilldrop")

_JSON_ROUTE = re.compile(
    r"\.jsono?$|^/-/(?:healthz|metrics)$|^/index/[^/]+$|^/skills/[^/]+/preview$"
    r"|/\.well-known/[^/]+/index\.json$"
)
_INTERNAL = "Internal error. The log of the site has the details."


class Problem(NamedTuple):
    """Error as a visitor sees it, without details of bugs."""

    status: int
    message: str
    title: str | None = None


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


def problem(exception: Exception) -> Problem:
    """Return an exception of a page as a problem; a bug is logged."""
    status = getattr(exception, "status", 500)
    if status >= 500:
        log.error("A page failed.", exc_info=exception)
        return Problem(500, _INTERNAL)
    if getattr(exception, "message_is_html", False):  # the page of Datasette's time limit
        return Problem(status, "The query took too long.")
    message = getattr(exception, "message", None) or str(exception)
    return Problem(status, str(message), getattr(exception, "title", None))
