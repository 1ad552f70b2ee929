"""Pages of a file, cut between characters, with the hash of the whole file."""

import base64
import codecs
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

PAGE_BYTES = 48 * 1024
"""Default size of a page; as base64 it has 64 Ki characters."""

_CHUNK = 1 << 20
_CHAR = 4  # bytes of the longest character in UTF-8
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
    missing, start, offset = line - 1, 0, 0
    while missing > 0 and (chunk := file.read(_CHUNK)):
        if (count := chunk.count(b"\n")) < missing:
            missing -= count
            start = offset + chunk.rfind(b"\n") + 1 if count else start
        else:
            position = -1
            for _ in range(missing):
                position = chunk.find(b"\n", position + 1)
            return offset + position + 1
        offset += len(chunk)
    return start


def read_page(file: BinaryIO, offset: int, limit: int | None, longest: int) -> Page:
    """Return the page of about `limit` bytes from an offset, or all the rest.

    A page of text ends after a line that ends in its second half, else after a character, and is
    never empty before the end of the file. A page of binary data is a multiple of three bytes, so
    that base64 pages can be joined. An offset inside a character moves to its start. Reads at most
    `longest` + 1 bytes. Raises OSError.
    """
    stop = None if limit is None else offset + limit
    scan = _FileScan(max(offset - _CHAR, 0), None if stop is None else stop + _CHAR)
    for chunk in chunks(file, longest + 1):
        scan.take(chunk)
    if not scan.is_text():
        return scan.page("base64", offset, _binary_stop(offset, limit, scan.size))
    bom = bytes(scan.head).startswith(codecs.BOM_UTF8)
    start = scan.char_start(min(offset, scan.size))
    end = scan.size if stop is None else scan.text_stop(start, min(stop, scan.size))
    return scan.page("utf-8-sig" if bom else "utf-8", start, end)


def chunks(file: BinaryIO, most: int) -> Iterator[bytes]:
    """Yield the content of a file in chunks, up to `most` bytes."""
    while most > 0 and (chunk := file.read(min(_CHUNK, most))):
        most -= len(chunk)
        yield chunk


def _binary_stop(offset: int, limit: int | None, size: int) -> int:
    if limit is None:
        return size
    return min(offset + max(limit - limit % 3, 3), size)


@dataclass(slots=True)
class _FileScan:
    """One pass over a file that keeps the bytes from `first` to `last`."""

    first: int
    last: int | None
    size: int = 0
    head: bytearray = field(default_factory=bytearray)
    kept: bytearray = field(default_factory=bytearray)
    sha256: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    decoder: codecs.IncrementalDecoder | None = field(
        default_factory=codecs.getincrementaldecoder("utf-8")
    )
    line: int = 1  # of `first`
    column: int = 0  # characters of that line before `first`
    lines: int = 0  # line feeds so far
    ends_line: bool = True  # whether the last byte so far is a line feed

    def take(self, chunk: bytes) -> None:
        self._count(chunk[: max(self.first - self.size, 0)])
        self.lines += chunk.count(b"\n")
        self.ends_line = chunk.endswith(b"\n")
        self.sha256.update(chunk)
        self.head += chunk[: len(codecs.BOM_UTF8) - len(self.head)]
        last = len(chunk) if self.last is None else max(self.last - self.size, 0)
        self.kept += chunk[max(self.first - self.size, 0) : last]
        self.size += len(chunk)
        self._decode(chunk, final=False)

    def _count(self, before: bytes) -> None:
        """Advance line and column past some bytes."""
        if count := before.count(b"\n"):
            self.line, self.column = self.line + count, 0
            before = before[before.rfind(b"\n") + 1 :]
        self.column += len(before.translate(None, _CONTINUATIONS))

    def is_text(self) -> bool:
        """Return at the end whether the whole file is UTF-8 without NUL."""
        self._decode(b"", final=True)
        return self.decoder is not None

    def _decode(self, chunk: bytes, *, final: bool) -> None:
        if self.decoder is None:
            return
        try:
            self.decoder.decode(chunk, final)
        except UnicodeDecodeError:
            self.decoder = None
        if b"\0" in chunk:
            self.decoder = None

    def char_start(self, offset: int) -> int:
        while offset < self.size and offset > 0 and self._continues(offset):
            offset -= 1
        return offset

    def text_stop(self, start: int, stop: int) -> int:
        """Return the best end of a page of text, at or before `stop` if possible."""
        if stop == self.size:
            return stop
        line = self.kept.rfind(b"\n", start - self.first, stop - self.first) + self.first + 1
        if line > start + (stop - start) // 2:
            return line
        before = self.char_start(stop)
        if before > start:
            return before
        stop = max(stop, start + 1)
        while stop < self.size and self._continues(stop):
            stop += 1
        return stop

    def _continues(self, offset: int) -> bool:
        """Return whether the byte there is not the first one of its character."""
        return self.kept[offset - self.first] & 0xC0 == 0x80

    def page(self, encoding: str, start: int, stop: int) -> Page:
        data = bytes(self.kept[max(start - self.first, 0) : max(stop - self.first, 0)])
        text = base64.b64encode(data).decode() if encoding == "base64" else data.decode()
        if start == 0 and encoding == "utf-8-sig":
            text = text.removeprefix("\ufeff")
        self._count(bytes(self.kept[: max(start - self.first, 0)]))
        return Page(
            self.size,
            self.sha256.hexdigest(),
            encoding,
            text,
            start,
            stop if stop < self.size else None,
            self.line,
            self.column,
            self.lines + (not self.ends_line),
        )
