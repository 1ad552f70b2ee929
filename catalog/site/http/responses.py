"""HTTP responses of the site: types, validators, 304, HEAD, compression, files and errors."""

import asyncio
import gzip
import hashlib
import json
import logging
import re
import zlib
from collections.abc import Callable, Mapping
from typing import IO, Any, NamedTuple

from datasette import Response

HTML = "text/html; charset=utf-8"
JSON = "application/json; charset=utf-8"
TEXT = "text/plain; charset=utf-8"

WORTH_COMPRESSING = 1_000
"""Smallest body, in bytes, for which compression saves more than it costs."""
WHOLE = 2**20
"""Largest file, in bytes, that is sent from memory, compressed if that helps."""
PIECE = 2**18
"""Bytes of a larger file that are read into memory at once."""

_COMPRESSED = "-gzip"
_QUALITY = re.compile(r"[01](?:\.[0-9]{0,3})?")
_ENTITY_TAG = re.compile(r'(?:W/)?"([\x21\x23-\x7e\x80-\xff]*)"')


def of_bytes(
    request: Any,
    body: bytes,
    content_type: str,
    *,
    status: int = 200,
    etag: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a response, or 304 if the client's copy is current.

    etag is the validator without quotes. The response to HEAD has no body. A long body is
    compressed if the client accepts gzip.
    """
    all_headers = {"Cache-Control": "no-cache", **(headers or {})}
    compress = (
        len(body) >= WORTH_COMPRESSING
        and not content_type.startswith("image/")
        and _accepts_gzip(request.headers.get("accept-encoding", ""))
    )
    all_headers["Vary"] = "Accept-Encoding"
    if etag:
        all_headers["ETag"] = f'"{etag}{_COMPRESSED}"' if compress else f'"{etag}"'
    if status == 200 and is_known(request, etag):
        return Response(b"", 304, all_headers, content_type)
    if compress:
        body = gzip.compress(body, 4, mtime=0)
        all_headers["Content-Encoding"] = "gzip"
    all_headers["Content-Length"] = str(len(body))
    return Response(b"" if request.method == "HEAD" else body, status, all_headers, content_type)


def of_text(request: Any, text: str, content_type: str, **more: Any) -> Response:
    """Return a text as a response whose ETag is a hash of the text."""
    body = text.encode("utf-8", "replace")
    return of_bytes(
        request, body, content_type, **{"etag": hashlib.sha256(body).hexdigest()[:32], **more}
    )


def of_json(request: Any, value: Any, **more: Any) -> Response:
    """Return a value as a JSON response."""
    return of_text(request, json.dumps(value, ensure_ascii=False) + "\n", JSON, **more)


def of_file(
    request: Any,
    file: IO[bytes],
    size: int,
    content_type: str,
    done: Callable[[], None],
    *,
    etag: str,
    headers: Mapping[str, str],
) -> "Response | FileResponse":
    """Return a file as a response, or the range that is asked for; much is sent in pieces.

    done, which closes the file, is called at the end, also after an error.
    """
    if (part := _range(request, size, etag)) is not None:
        return _of_range(file, size, part, content_type, done, {**headers, "ETag": f'"{etag}"'})
    headers = {**headers, "Accept-Ranges": "bytes"}
    if size > WHOLE and request.method != "HEAD" and not is_known(request, etag):
        all_headers = {
            "Cache-Control": "no-cache",
            "Vary": "Accept-Encoding",
            "ETag": f'"{etag}"',
            **headers,
            "Content-Type": content_type,
            "Content-Length": str(size),
        }
        return FileResponse(file, size, all_headers, done)
    try:
        body = file.read() if size <= WHOLE else b""
    finally:
        done()
    response = of_bytes(request, body, content_type, etag=etag, headers=headers)
    if response.status == 200 and size > WHOLE:
        response.headers["Content-Length"] = str(size)
    return response


def _range(request: Any, size: int, etag: str) -> range | None:
    """Return the bytes that a request asks for: RFC 9110, section 14; None for the whole file.

    An empty range is one that the file does not have. Several ranges get the whole file.
    """
    match = _RANGE.fullmatch(request.headers.get("range", "").strip())
    condition = request.headers.get("if-range", f'"{etag}"').strip()
    if not match or match[0].endswith("=-") or request.method != "GET":
        return None
    if condition != f'"{etag}"' or is_known(request, etag):
        return None
    first, last = match.groups()
    if not first:
        return range(max(0, size - int(last)), size)
    return range(int(first), min(size, int(last) + 1 if last else size))


_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")


def _of_range(
    file: IO[bytes],
    size: int,
    part: range,
    content_type: str,
    done: Callable[[], None],
    headers: dict[str, str],
) -> "Response | FileResponse":
    if not part:
        done()
        return Response("", 416, {"Content-Range": f"bytes */{size}"}, TEXT)
    file.seek(part.start)
    headers |= {
        "Content-Range": f"bytes {part.start}-{part.stop - 1}/{size}",
        "Content-Type": content_type,
        "Content-Length": str(len(part)),
    }
    return FileResponse(file, len(part), headers, done, status=206)


class FileResponse:
    """Response whose body is a file, or a part of it from its position, in bounded memory."""

    def __init__(
        self,
        file: IO[bytes],
        size: int,
        headers: dict[str, str],
        done: Callable[[], None],
        status: int = 200,
    ) -> None:
        self.status, self.headers = status, headers
        self._file, self._size, self._done = file, size, done

    async def asgi_send(self, send: Any) -> None:
        """Send the response. Raises OSError if the file has become shorter."""
        headers = [
            (name.lower().encode(), value.encode("latin-1")) for name, value in self.headers.items()
        ]
        try:
            start = {"type": "http.response.start", "status": self.status, "headers": headers}
            await send(start)
            left = self._size
            while left:
                piece = await asyncio.to_thread(self._file.read, min(PIECE, left))
                if not piece:
                    raise OSError("the file became shorter while it was sent")
                left -= len(piece)
                await send({"type": "http.response.body", "body": piece, "more_body": left > 0})
        finally:
            self._done()


def is_known(request: Any, etag: str | None) -> bool:
    """Return whether If-None-Match names an ETag, compared weakly: RFC 9110, section 13.1.2.

    The suffix that marks compression is ignored.
    """
    named: str = request.headers.get("if-none-match", "")
    if not etag or named.strip() == "*":
        return bool(etag and named)
    return etag in {tag.removesuffix(_COMPRESSED) for tag in _ENTITY_TAG.findall(named)}


def compressing(scope: Any, send: Any) -> Any:
    """Return a function that sends a response, compressed in pieces if the client accepts gzip."""
    accepted = dict(scope["headers"]).get(b"accept-encoding", b"").decode("latin-1")
    if scope["method"] == "HEAD" or not _accepts_gzip(accepted):
        return send
    packer = zlib.compressobj(4, wbits=16 + zlib.MAX_WBITS)
    is_packed = False

    async def sent(message: Any) -> None:
        nonlocal is_packed
        if message["type"] == "http.response.start":
            headers = [(name.lower(), value) for name, value in message.get("headers", ())]
            is_packed = message["status"] == 200 and b"content-encoding" not in dict(headers)
            if is_packed:
                kept = [header for header in headers if header[0] != b"content-length"]
                kept += [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]
                message = {**message, "headers": kept}
        elif is_packed:
            body, is_more = message.get("body", b""), message.get("more_body", False)
            if len(body) > PIECE:  # other visitors need not wait
                body = await asyncio.to_thread(packer.compress, body)
            else:
                body = packer.compress(body)
            message = {**message, "body": body if is_more else body + packer.flush()}
            if is_more and not body:
                return
        await send(message)

    return sent


def _accepts_gzip(header: str) -> bool:
    """Return whether Accept-Encoding allows gzip; a weight that is 0 or no number forbids it."""
    weights = {}
    for wish in header.lower().split(","):
        value, *parameters = (part.replace(" ", "") for part in wish.split(";"))
        quality = next((part[2:] for part in parameters if part.startswith("q=")), "1")
        weights[value] = float(quality) if _QUALITY.fullmatch(quality) else 0.0
    return weights.get("gzip", weights.get("*", 0.0)) > 0


log = logging.getLogger("skilldrop")

_JSON_ROUTE = re.compile(
    r"\.jsono?$|^/-/(?:healthz|metrics)$|^/index/[^/]+$|^/skills/[^/]+/preview$"
    r"|/\.well-known/[^/]+/index\.json$"
)
_INTERNAL = "Internal error. The log of the site has the details."


class VisibleError(NamedTuple):
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


def of_error(message: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
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
        return of_error(message, status, headers)
    return Response(f"{message}\n", status, dict(headers or {}), TEXT)


def problem(exception: Exception) -> VisibleError:
    """Return an exception of a page as a problem; a bug is logged."""
    status = getattr(exception, "status", 500)
    if status >= 500:
        log.error("A page failed.", exc_info=exception)
        return VisibleError(500, _INTERNAL)
    if getattr(exception, "message_is_html", False):  # the page of Datasette's time limit
        return VisibleError(status, "The query took too long.")
    message = getattr(exception, "message", None) or str(exception)
    return VisibleError(status, str(message), getattr(exception, "title", None))
