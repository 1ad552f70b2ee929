"""How the site answers over HTTP: types, validators, 304, HEAD and compression."""

import gzip
import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any

from datasette.utils.asgi import Response

HTML = "text/html; charset=utf-8"
JSON = "application/json; charset=utf-8"
TEXT = "text/plain; charset=utf-8"

WORTH_COMPRESSING = 1_000
"""Bytes from which on compression saves more than it costs."""


def of_bytes(
    request: Any, body: bytes, content_type: str, *, status: int = 200, etag: str | None = None,
    modified: datetime | None = None, headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an answer, or 304 where the asker has it already.

    etag is the validator without quotes. An answer to HEAD has the headers and no body; one that
    is long is compressed where the asker says that it can read that.
    """
    told = {"Cache-Control": "no-cache", **(headers or {})}
    if modified:
        told["Last-Modified"] = format_datetime(modified.astimezone(UTC), usegmt=True)
    compress = (len(body) >= WORTH_COMPRESSING and not content_type.startswith("image/")
                and _accepts_gzip(request.headers.get("accept-encoding", "")))
    told["Vary"] = "Accept-Encoding"
    if etag:
        told["ETag"] = f'"{etag}-gzip"' if compress else f'"{etag}"'
    if status == 200 and is_known(request, etag, modified):
        return Response(b"", 304, told, content_type)
    if compress:
        body = gzip.compress(body, 4, mtime=0)
        told["Content-Encoding"] = "gzip"
    told["Content-Length"] = str(len(body))
    return Response(b"" if request.method == "HEAD" else body, status, told, content_type)


def of_text(request: Any, text: str, content_type: str, **more: Any) -> Response:
    """Return an answer whose validator is the text itself."""
    body = text.encode("utf-8", "replace")
    return of_bytes(request, body, content_type,
                    **{"etag": hashlib.sha256(body).hexdigest()[:32], **more})


def of_json(request: Any, value: Any, **more: Any) -> Response:
    """Return a value as JSON."""
    return of_text(request, json.dumps(value, ensure_ascii=False) + "\n", JSON, **more)


def is_known(request: Any, etag: str | None, modified: datetime | None) -> bool:
    """Tell whether the asker's copy is the present one: RFC 9110, section 13.2.2."""
    if tags := request.headers.get("if-none-match"):
        named = {tag.strip().removeprefix("W/").strip('"').removesuffix("-gzip")
                 for tag in tags.split(",")}
        return bool(etag) and bool(named & {etag, "*"})
    since = request.headers.get("if-modified-since")
    if not since or not modified:
        return False
    try:
        moment = parsedate_to_datetime(since)
    except ValueError:
        return False
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return modified.replace(microsecond=0) <= moment


def _accepts_gzip(header: str) -> bool:
    """Read Accept-Encoding; an explicit weight of nothing is a no."""
    weights = {}
    for part in header.lower().split(","):
        name, _, weight = part.partition(";")
        weights[name.strip()] = weight.replace(" ", "").removeprefix("q=")
    weight = weights.get("gzip", weights.get("*", "0"))
    try:
        return float(weight or 1) > 0
    except ValueError:
        return False
