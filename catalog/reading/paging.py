"""Pages of a file, cut between characters, with the hash of the whole file."""

import base64
import codecs
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO

PAGE_BYTES = 48 * 1024
"""What a page holds where nothing else is said; as base64 it is 64 Ki characters."""

_CHUNK = 1 << 20
_CHAR = 4  # bytes of the longest character in UTF-8
_CONTINUATIONS = bytes(range(0x80, 0xC0))  # bytes of a character in UTF-8 but its first


@dataclass(frozen=True, slots=True)
class Page:
    """A part of a file as text, and what reading all of it has shown."""

    size: int  # bytes of the whole file
    sha256: str  # of the whole file, 64 hex digits
    encoding: str  # "utf-8", "utf-8-sig" where it starts with a BOM, else "base64"
    text: str  # without the BOM
    offset: int  # where the page starts, in bytes
    next_offset: int | None  # where the next one starts; None at the end
    line: int = 1  # in which the page starts, from 1
    column: int = 0  # characters of that line that stand before the page
    lines: int = 0  # of the whole file


def line_start(file: BinaryIO, line: int) -> int:
    """Return the byte at which a line starts, counted from 1, or the last line if there are fewer.

    The file stands at its start. Raises OSError.
    """
    wanted, start, at = line - 1, 0, 0
    while wanted > 0 and (chunk := file.read(_CHUNK)):
        if (there := chunk.count(b"\n")) < wanted:
            wanted -= there
            start = at + chunk.rfind(b"\n") + 1 if there else start
        else:
            found = -1
            for _ in range(wanted):
                found = chunk.find(b"\n", found + 1)
            return at + found + 1
        at += len(chunk)
    return start


def read_page(file: BinaryIO, offset: int, limit: int | None, longest: int) -> Page:
    """Return the page of about `limit` bytes, or all the rest, from a byte on.

    A page of text ends with a line where one ends in its second half, else with a character,
    and is never empty before the end; a page of a binary is a multiple of three bytes, so that
    their base64 can be joined. An offset inside a character is moved to its start. At most
    `longest` bytes and one more are read. Raises OSError.
    """
    stop = None if limit is None else offset + limit
    look = _Look(max(offset - _CHAR, 0), None if stop is None else stop + _CHAR)
    for chunk in chunks(file, longest + 1):
        look.take(chunk)
    if not look.is_text():
        return look.page("base64", offset, _binary_stop(offset, limit, look.size))
    bom = bytes(look.head).startswith(codecs.BOM_UTF8)
    start = look.char_start(min(offset, look.size))
    end = look.size if stop is None else look.text_stop(start, min(stop, look.size))
    return look.page("utf-8-sig" if bom else "utf-8", start, end)


def chunks(file: BinaryIO, most: int) -> Iterator[bytes]:
    """Yield the content of a file, but no more than so many bytes."""
    while most > 0 and (chunk := file.read(min(_CHUNK, most))):
        most -= len(chunk)
        yield chunk


def _binary_stop(offset: int, limit: int | None, size: int) -> int:
    if limit is None:
        return size
    return min(offset + max(limit - limit % 3, 3), size)


@dataclass(slots=True)
class _Look:
    """One pass over a file, of which the bytes from `first` to `last` are kept."""

    first: int
    last: int | None
    size: int = 0
    head: bytearray = field(default_factory=bytearray)
    kept: bytearray = field(default_factory=bytearray)
    sha256: "hashlib._Hash" = field(default_factory=hashlib.sha256)
    decoder: codecs.IncrementalDecoder | None = field(
        default_factory=codecs.getincrementaldecoder("utf-8")
    )
    line: int = 1  # in which `first` lies
    column: int = 0  # characters of it before `first`
    lines: int = 0  # line feeds so far
    ends_line: bool = True  # whether the last byte so far is one

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
        """Move the place at which what is kept begins past some bytes."""
        if count := before.count(b"\n"):
            self.line, self.column = self.line + count, 0
            before = before[before.rfind(b"\n") + 1 :]
        self.column += len(before.translate(None, _CONTINUATIONS))

    def is_text(self) -> bool:
        """Say, in the end, whether all of it is UTF-8 without NUL."""
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

    def char_start(self, at: int) -> int:
        while at < self.size and at > 0 and self._continues(at):
            at -= 1
        return at

    def text_stop(self, start: int, stop: int) -> int:
        """Return the best place to end a page of text, at or before `stop` where there is one."""
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

    def _continues(self, at: int) -> bool:
        """Say whether the byte there is not the first one of its character."""
        return self.kept[at - self.first] & 0xC0 == 0x80

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
