"""HTTP responses of the site: types, validators, 304, HEAD and compression."""

import gzip
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime
from typing import IO, Any

from datasette.utils.asgi import Response

from catalog.site.http.streamed import FileResponse

HTML = "text/html; charset=utf-8"
JSON = "application/json; charset=utf-8"
TEXT = "text/plain; charset=utf-8"

WORTH_COMPRESSING = 1_000
"""Bytes from which on compression saves more than it costs."""
WHOLE = 2**20
"""Bytes up to which a file is sent from memory, compressed where that helps."""

_COMPRESSED = "-gzip"
_ENTITY_TAG = re.compile(r'(?:W/)?"([\x21\x23-\x7e\x80-\xff]*)"')


def of_bytes(
    request: Any,
    body: bytes,
    content_type: str,
    *,
    status: int = 200,
    etag: str | None = None,
    modified: datetime | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return an answer, or 304 where the asker has it already.

    etag is the validator without quotes. An answer to HEAD has the headers and no body; one that
    is long is compressed where the asker says that it can read that.
    """
    told = {"Cache-Control": "no-cache", **(headers or {})}
    if modified:
        told["Last-Modified"] = _http_date(modified)
    compress = (
        len(body) >= WORTH_COMPRESSING
        and not content_type.startswith("image/")
        and _accepts_gzip(request.headers.get("accept-encoding", ""))
    )
    told["Vary"] = "Accept-Encoding"
    if etag:
        told["ETag"] = f'"{etag}{_COMPRESSED}"' if compress else f'"{etag}"'
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
    return of_bytes(
        request, body, content_type, **{"etag": hashlib.sha256(body).hexdigest()[:32], **more}
    )


def of_json(request: Any, value: Any, **more: Any) -> Response:
    """Return a value as JSON."""
    return of_text(request, json.dumps(value, ensure_ascii=False) + "\n", JSON, **more)


def of_file(
    request: Any,
    file: IO[bytes],
    size: int,
    content_type: str,
    *,
    etag: str,
    modified: datetime | None,
    headers: Mapping[str, str],
    done: Callable[[], None] = lambda: None,
) -> Response | FileResponse:
    """Return a file as an answer, which closes it; one that is large is sent in pieces.

    done is called at the end, however it ends.
    """
    if size <= WHOLE or request.method == "HEAD" or is_known(request, etag, modified):
        with file:
            body = file.read() if size <= WHOLE else b""
        done()
        told = of_bytes(request, body, content_type, etag=etag, modified=modified, headers=headers)
        if told.status == 200 and size > WHOLE:
            told.headers["Content-Length"] = str(size)
        return told
    said = {"Cache-Control": "no-cache", "Vary": "Accept-Encoding", "ETag": f'"{etag}"', **headers}
    if modified:
        said["Last-Modified"] = _http_date(modified)
    return FileResponse(file, size, content_type, said, done)


def is_known(request: Any, etag: str | None, modified: datetime | None) -> bool:
    """Tell whether the asker's copy is the present one: RFC 9110, section 13.2.2."""
    if "if-none-match" in request.headers:
        return is_named(request, etag)
    since = request.headers.get("if-modified-since")
    if not since or not modified:
        return False
    try:
        moment = parsedate_to_datetime(since)
    except ValueError:
        return False
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return modified.replace(microsecond=0) <= moment


def is_named(request: Any, etag: str | None) -> bool:
    """Tell whether If-None-Match names a validator, compared weakly: RFC 9110, section 13.1.2.

    Our compression adds a suffix to it, with and without which it stands for the same text.
    """
    named: str = request.headers.get("if-none-match", "")
    if not etag or named.strip() == "*":
        return bool(etag)
    return etag in {tag.removesuffix(_COMPRESSED) for tag in _ENTITY_TAG.findall(named)}


def _http_date(moment: datetime) -> str:
    return format_datetime(moment.astimezone(UTC), usegmt=True)


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
