"""Pages of a file, cut between characters, with the hash of the whole file."""

import base64
import codecs
import hashlib
from dataclasses import dataclass
from itertools import islice
from typing import BinaryIO

PAGE_BYTES = 48 * 1024
"""Default size of a page; as base64 it has 64 Ki characters."""

_CONTINUATIONS = bytes(range(0x80, 0xC0))  # all bytes of a UTF-8 character but its first


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a file as text, with facts about the whole file."""

    size: int  # bytes of the whole file
    sha256: str  # of the whole file, 64 hex digits
    encoding: str  # "utf-8", "utf-8-sig" where it starts with a BOM, else "base64"
    text: str  # without the BOM
    offset: int  # of the page, in bytes
    next_offset: int | None  # of the next page; None at the end
    line: int = 1  # in which the page starts, from 1
    column: int = 0  # characters of that line before the page
    lines: int = 0  # of the whole file


def line_start(file: BinaryIO, line: int) -> int:
    """Return the byte offset of a line, counted from 1, or of the last line if there are fewer.

    The file must be at its start. Raises OSError.
    """
    offset = 0
    for text in islice(file, line - 1):
        if not text.endswith(b"\n"):
            break
        offset += len(text)
    return offset


def read_page(file: BinaryIO, offset: int, limit: int | None, longest: int) -> Page:
    """Return the page of about `limit` bytes from an offset, or all the rest.

    A page of text ends after a line that ends in its second half, else after a character, and is
    never empty before the end of the file. A page of binary data is a multiple of three bytes, so
    that base64 pages can be joined. An offset inside a character moves to its start. Reads at most
    `longest` + 1 bytes. Raises OSError.
    """
    data = file.read(longest + 1)
    encoding = _encoding(data)
    if encoding == "base64":
        start = offset
        stop = len(data) if limit is None else min(offset + max(limit - limit % 3, 3), len(data))
        text = base64.b64encode(data[start:stop]).decode()
    else:
        start = _char_start(data, min(offset, len(data)))
        stop = len(data) if limit is None else _text_stop(data, start, offset + limit)
        text = data[start:stop].decode("utf-8" if start else encoding)
    line_from = data.rfind(b"\n", 0, start) + 1
    return Page(
        len(data),
        hashlib.sha256(data).hexdigest(),
        encoding,
        text,
        start,
        stop if stop < len(data) else None,
        data.count(b"\n", 0, start) + 1,
        len(data[line_from:start].translate(None, _CONTINUATIONS)),
        data.count(b"\n") + (not data.endswith(b"\n") if data else 0),
    )


def _encoding(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError:
        return "base64"
    if b"\0" in data:
        return "base64"
    return "utf-8-sig" if data.startswith(codecs.BOM_UTF8) else "utf-8"


def _text_stop(data: bytes, start: int, stop: int) -> int:
    """Return the best end of a page of text, at or before `stop` if possible."""
    if stop >= len(data):
        return len(data)
    line = data.rfind(b"\n", start, stop) + 1
    if line > start + (stop - start) // 2:
        return line
    before = _char_start(data, stop)
    if before > start:
        return before
    stop = max(stop, start + 1)
    while stop < len(data) and data[stop] in _CONTINUATIONS:
        stop += 1
    return stop


def _char_start(data: bytes, offset: int) -> int:
    """Return the start of the character at an offset."""
    while 0 < offset < len(data) and data[offset] in _CONTINUATIONS:
        offset -= 1
    return offset
