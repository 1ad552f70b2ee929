"""Entries of a tar file, also of a compressed one."""

import os
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from stat import S_IFDIR, S_IFLNK, S_IFREG, S_IMODE
from typing import IO, cast

from pipeline.roots.archives.codes import (
    ARCHIVE_CORRUPT,
    ARCHIVE_HARD_LINK,
    ARCHIVE_SPECIAL_MEMBER,
    ARCHIVE_TRUNCATED,
)
from pipeline.roots.archives.entries import (
    CHUNK,
    ArchiveEntries,
    ArchiveEntry,
    ArchiveRejected,
    LimitedReader,
    about,
    check_size,
    rejecting,
    utf8,
)
from pipeline.roots.local.folder import Limits

_IN_MEMORY = 16 * 1024 * 1024  # unpacked bytes; a larger archive is spooled to an unnamed file
_READ = 64 * 1024  # compressed bytes read at once
_HEADER_BYTES = 64 * 1024  # of one entry
_HEADER_FIELDS = 1000  # that apply to all entries
_STREAMS = 20_000  # in one file; programs that compress in blocks write many
_BLOCK = 512  # bytes
_GZIP = 31  # window bits that ask zlib for the header of gzip


@contextmanager
def open_tar(file: IO[bytes], limits: Limits, *, is_compressed: bool) -> Iterator[ArchiveEntries]:
    """Open a tar; a compressed one is unpacked into a spool file that allows access in any order.

    Raises ArchiveRejected, and OSError for example if the disk is full.
    """
    with ExitStack() as stack:
        if is_compressed:
            spool = stack.enter_context(tempfile.SpooledTemporaryFile(_IN_MEMORY))
            with rejecting():
                _unpack(file, spool, limits)
            file = cast(IO[bytes], spool)
        with rejecting():
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            reader = LimitedReader(file)
            reader.allot(_HEADER_BYTES, is_header=True)
            archive = tarfile.TarFile(fileobj=cast(IO[bytes], reader), encoding="utf-8")
        with archive:
            yield _Tar(archive, reader, size)


def _unpack(file: IO[bytes], spool: IO[bytes], limits: Limits) -> None:
    """Unpack the gzip streams of a file and check the size on the way."""
    stream, streams, unpacked, data = zlib.decompressobj(_GZIP), 1, 0, b""
    while True:
        data = stream.unconsumed_tail or data or file.read(_READ)
        is_at_end = not data
        out, data = stream.decompress(data, CHUNK), b""
        unpacked += len(out)
        check_size(unpacked, file.tell(), limits)
        spool.write(out)
        if not stream.eof:
            if is_at_end and not out:
                raise ArchiveRejected(ARCHIVE_TRUNCATED.at())
            continue
        # Padding may follow; gzip ignores it, too.
        data = stream.unused_data.lstrip(b"\0") or file.read(_READ).lstrip(b"\0")
        if not data:
            return
        stream, streams = zlib.decompressobj(_GZIP), streams + 1
        if streams > _STREAMS:
            raise ArchiveRejected(
                ARCHIVE_CORRUPT.at(f"The file has more than {_STREAMS:,} compressed streams.")
            )


class _Tar:
    """Entries of a spooled tar. tarfile takes garbage for the end; this class rejects it."""

    def __init__(self, archive: tarfile.TarFile, reader: LimitedReader, size: int) -> None:
        self._tar = archive
        self._reader = reader
        self._size = size

    def __iter__(self) -> Iterator[ArchiveEntry]:
        with rejecting():
            while info := self._next():
                yield self._entry(info)
            self._check_end()

    def chunks(self, entry: ArchiveEntry) -> Iterator[bytes]:
        assert isinstance(entry.info, tarfile.TarInfo)
        left, offset = entry.size, entry.info.offset_data
        with rejecting():
            while left:
                self._reader.allot(CHUNK)
                self._reader.seek(offset)
                chunk = self._reader.read(min(left, CHUNK))
                if not chunk:
                    raise ArchiveRejected(ARCHIVE_TRUNCATED.at())
                left, offset = left - len(chunk), offset + len(chunk)
                yield chunk

    def _next(self) -> tarfile.TarInfo | None:
        before = self._tar.offset
        self._reader.allot(_HEADER_BYTES, is_header=True)
        info = self._tar.next()
        self._tar.members = []  # type: ignore[attr-defined]  # the tree keeps them
        if len(self._tar.pax_headers) > _HEADER_FIELDS:
            raise ArchiveRejected(
                ARCHIVE_CORRUPT.at("The archive has too many header fields for all its entries.")
            )
        if info:
            info.pax_headers = {}
            if info.size < 0 or self._tar.offset < max(before, info.offset_data):
                raise ArchiveRejected(ARCHIVE_CORRUPT.at(about(info.name, "has a negative size")))
        return info

    def _entry(self, info: tarfile.TarInfo) -> ArchiveEntry:
        name = info.name
        utf8(name.encode(errors="surrogateescape"), name)
        if info.islnk():
            raise ArchiveRejected(ARCHIVE_HARD_LINK.at(about(name, "is a hard link")))
        kind = (
            S_IFDIR
            if info.isdir()
            else S_IFLNK
            if info.issym()
            else S_IFREG
            if info.isreg() and not info.issparse()
            else 0
        )
        if not kind:
            problem = "is a sparse file" if info.issparse() else "is a pipe, a socket or a device"
            raise ArchiveRejected(ARCHIVE_SPECIAL_MEMBER.at(about(name, problem)))
        if kind == S_IFREG and info.offset_data + info.size > self._size:
            raise ArchiveRejected(ARCHIVE_TRUNCATED.at())
        target = None
        if kind == S_IFLNK:
            target = utf8(info.linkname.encode(errors="surrogateescape"), name)
        return ArchiveEntry(name, kind | S_IMODE(info.mode), info.size, target, info)

    def _check_end(self) -> None:
        self._reader.allot(_BLOCK)
        self._reader.seek(self._tar.offset)
        block = self._reader.read(_BLOCK)
        if block.strip(b"\0"):
            kind = ARCHIVE_TRUNCATED if len(block) < _BLOCK else ARCHIVE_CORRUPT
            raise ArchiveRejected(kind.at())
