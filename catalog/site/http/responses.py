"""HTTP responses of the site: types, validators, 304, HEAD, compression, files and errors."""

import asyncio
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

WHOLE = 2**20
"""Largest file, in bytes, that is sent from memory, compressed if that helps."""
PIECE = 2**18
"""Bytes of a larger file that are read into memory at once."""

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

    etag is the validator without quotes. The response to HEAD has no body.
    """
    all_headers = {"Cache-Control": "no-cache", **(headers or {})}
    if etag:
        all_headers["ETag"] = f'"{etag}"'
    if status == 200 and is_known(request, etag):
        return Response(b"", 304, all_headers, content_type)
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
    """Return a file, or the range of it that is asked for, as a response in pieces.

    done, which closes the file, is called at the end, also after an error.
    """
    part = _range(request, size, etag)
    if part and request.method != "HEAD" and not is_known(request, etag):
        of_part = f"bytes {part.start}-{part.stop - 1}/{size}"
        all_headers = {
            "Cache-Control": "no-cache",
            "ETag": f'"{etag}"',
            "Accept-Ranges": "bytes",
            **headers,
            "Content-Type": content_type,
            "Content-Length": str(len(part)),
            **({"Content-Range": of_part} if len(part) < size else {}),
        }
        return FileResponse(file, part, 206 if len(part) < size else 200, all_headers, done)
    done()
    if size and not part:
        return Response("", 416, {"Content-Range": f"bytes */{size}"}, TEXT)
    response = of_bytes(request, b"", content_type, etag=etag, headers=headers)
    if response.status == 200:
        response.headers |= {"Accept-Ranges": "bytes", "Content-Length": str(size)}
    return response


def _range(request: Any, size: int, etag: str) -> range:
    """Return the bytes that a request asks for: RFC 9110, section 14.

    They are none if the file ends before. Anything but one range gets the whole file.
    """
    match = _RANGE.fullmatch(request.headers.get("range", "").strip())
    condition = request.headers.get("if-range", f'"{etag}"').strip()
    if not match or match[0].endswith("=-") or condition != f'"{etag}"':
        return range(size)
    first, last = match.groups()
    if not first:
        return range(max(0, size - int(last)), size)
    return range(int(first), min(size, int(last) + 1 if last else size))


_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")


class FileResponse:
    """Response whose body is a part of a file, sent in bounded memory."""

    def __init__(
        self,
        file: IO[bytes],
        part: range,
        status: int,
        headers: dict[str, str],
        done: Callable[[], None],
    ) -> None:
        self.status, self.headers = status, headers
        self._file, self._part, self._done = file, part, done

    async def asgi_send(self, send: Any) -> None:
        """Send the response. Raises OSError if the file has become shorter."""
        headers = [
            (name.lower().encode(), value.encode("latin-1")) for name, value in self.headers.items()
        ]
        try:
            start = {"type": "http.response.start", "status": self.status, "headers": headers}
            await send(start)
            left = len(self._part)
            self._file.seek(self._part.start)
            while left:
                piece = await asyncio.to_thread(self._file.read, min(PIECE, left))
                if not piece:
                    raise OSError("the file became shorter while it was sent")
                left -= len(piece)
                await send({"type": "http.response.body", "body": piece, "more_body": left > 0})
        finally:
            self._done()


def is_known(request: Any, etag: str | None) -> bool:
    """Return whether If-None-Match names an ETag, compared weakly: RFC 9110, section 13.1.2."""
    named: str = request.headers.get("if-none-match", "")
    if not etag or named.strip() == "*":
        return bool(etag and named)
    return etag in _ENTITY_TAG.findall(named)


def compressing(app: Any) -> Any:
    """Return the application, whose texts are compressed for clients that accept gzip."""

    async def compressed(scope: Any, receive: Any, send: Any) -> None:
        accepted = dict(scope.get("headers", ())).get(b"accept-encoding", b"").decode("latin-1")
        accepts = _accepts_gzip(accepted)
        packer = zlib.compressobj(4, wbits=16 + zlib.MAX_WBITS)
        is_packed = False

        async def sent(message: Any) -> None:
            nonlocal is_packed
            if message["type"] == "http.response.start":
                headers = [(name.lower(), value) for name, value in message.get("headers", ())]
                of = dict(headers)
                is_text = bool(_PACKABLE.match(of.get(b"content-type", b"")))
                is_200 = message["status"] == 200 and scope["method"] != "HEAD"
                is_packed = accepts and is_200 and is_text
                changed = {b"vary": b"Accept-Encoding"}
                if is_packed:
                    changed |= {b"content-encoding": b"gzip", b"content-length": b""}
                if accepts and is_text and of.get(b"etag", b"").startswith(b'"'):
                    changed[b"etag"] = b"W/" + of[b"etag"]  # it is of the bytes before compression
                if of.get(b"vary"):
                    changed[b"vary"] += b", " + of[b"vary"]
                headers = [header for header in headers if header[0] not in changed]
                headers += [header for header in changed.items() if header[1]]
                message = {**message, "headers": headers}
            elif is_packed:
                body, is_more = message.get("body", b""), message.get("more_body", False)
                if len(body) > PIECE:  # other visitors need not wait
                    body = await asyncio.to_thread(packer.compress, body)
                else:
                    body = packer.compress(body)
                message = {**message, "body": body if is_more else body + packer.flush()}
            await send(message)

        await app(scope, receive, sent if scope["type"] == "http" else send)

    return compressed


_PACKABLE = re.compile(rb"text/|application/(?:json|xml|atom|yaml|toml|javascript)|image/svg")


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
