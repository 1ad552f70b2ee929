"""Decompression of a stream with a limit on each piece of output and on memory."""

import bz2
import lzma
import sys
import zlib
from collections.abc import Callable, Mapping
from typing import Protocol, TypeAlias

from pipeline.roots.archives.codes import ARCHIVE_COMPRESSION
from pipeline.roots.archives.entries import ArchiveRejected

_XZ_BYTES = 128 * 1024 * 1024  # of memory; `xz -9` needs half of it


class Decompressor(Protocol):
    """Decompressor of one stream, as in bz2 and lzma."""

    @property
    def eof(self) -> bool:
        """Whether the stream has ended."""

    @property
    def needs_input(self) -> bool:
        """Whether there is no more output without further input."""

    @property
    def unused_data(self) -> bytes:
        """Input after the end of the stream."""

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        """Return at most so many bytes of output, given more input."""


Compression: TypeAlias = Callable[[], Decompressor]
"""Function that begins a stream."""


class _Gzip:
    """Stream of gzip with the interface of the others."""

    def __init__(self) -> None:
        self._inflate = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inflate.eof

    @property
    def needs_input(self) -> bool:
        return not self._inflate.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inflate.unused_data

    def decompress(self, data: bytes, max_length: int, /) -> bytes:
        return self._inflate.decompress(self._inflate.unconsumed_tail + data, max_length)


def _xz() -> Decompressor:
    return lzma.LZMADecompressor(memlimit=_XZ_BYTES)


def _zstandard() -> Decompressor:
    """Begin a stream whose window has at most 128 MiB, the limit of the library.

    Raises ArchiveRejected where the library is not installed, as beside the linter alone.
    """
    try:
        if sys.version_info >= (3, 14):
            from compression import zstd
        else:
            from backports import zstd
    except ImportError as error:
        raise ArchiveRejected(
            ARCHIVE_COMPRESSION.at(
                "Reading zstd needs the package backports.zstd, which is not installed.",
                fix="Install backports.zstd, or pack the skill as .tar.gz.",
            )
        ) from error
    return zstd.ZstdDecompressor()


_BY_ENDING: Mapping[str, Compression] = {
    ".gz": _Gzip,
    ".tgz": _Gzip,
    ".bz2": bz2.BZ2Decompressor,
    ".xz": _xz,
    ".zst": _zstandard,
}


def of_file(path: str) -> Compression | None:
    """Return the compression of a file by its ending; None if it has none."""
    return _BY_ENDING.get(f".{path.lower().rpartition('.')[2]}")
