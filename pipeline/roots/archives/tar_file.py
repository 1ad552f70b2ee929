"""Entries of a tar file compressed with gzip."""

import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from stat import S_IFDIR, S_IFLNK, S_IFREG, S_IMODE
from typing import IO, cast

from pipeline.roots.archives.codes import (
    ARCHIVE_CORRUPT,
    ARCHIVE_HARD_LINK,
    ARCHIVE_SPECIAL_MEMBER,
    ARCHIVE_TRUNCATED,
)
from pipeline.roots.archives.members import (
    CHUNK,
    ArchiveEntries,
    ArchiveEntry,
    ArchiveRejected,
    LimitedReader,
    check_size,
    explained,
    of,
    utf8,
)
from pipeline.roots.local.folder import Limits

_IN_MEMORY = 16 * 1024 * 1024  # unpacked bytes; more is spooled to a file without a name
_READ = 64 * 1024  # compressed bytes read at once
_HEADER_BYTES = 64 * 1024  # what may describe one member
_HEADER_FIELDS = 1000  # what may be said of all members
_STREAMS = 20_000  # in one file; programs that compress block by block write many
_BLOCK = 512  # bytes


@contextmanager
def opened(file: IO[bytes], limits: Limits) -> Iterator[ArchiveEntries]:
    """Open a compressed tar, spooling it unpacked to where it can be read in any order.

    Raises ArchiveRejected, and OSError where there is no room for it, say.
    """
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
        with explained():
            _unpack(file, spool, limits)
            size = spool.tell()
            spool.seek(0)
            rationed = LimitedReader(spool)
            rationed.allot(_HEADER_BYTES, is_header=True)
            archive = tarfile.TarFile(fileobj=cast(IO[bytes], rationed), encoding="utf-8")
        with archive:
            yield _Tar(archive, rationed, size)


def _unpack(file: IO[bytes], spool: IO[bytes], limits: Limits) -> None:
    """Write what a gzip file holds, one or more streams, counting it on the way."""
    inflate, streams, unpacked, data = zlib.decompressobj(wbits=31), 1, 0, b""
    while True:
        data = data or file.read(_READ)
        is_at_end = not data
        out = inflate.decompress(data, CHUNK)
        unpacked += len(out)
        check_size(unpacked, file.tell(), limits)
        spool.write(out)
        if not inflate.eof:
            if is_at_end and not out:
                raise ArchiveRejected(ARCHIVE_TRUNCATED.at())
            data = inflate.unconsumed_tail
            continue
        # Padding may follow; gzip itself passes over it, too.
        data = inflate.unused_data.lstrip(b"\0") or file.read(_READ).lstrip(b"\0")
        if not data:
            return
        inflate, streams = zlib.decompressobj(wbits=31), streams + 1
        if streams > _STREAMS:
            raise ArchiveRejected(ARCHIVE_CORRUPT.at(f"The file has more than {_STREAMS:,} parts."))


class _Tar:
    """The members of a tar that was spooled. tarfile takes rubbish for the end; this does not."""

    def __init__(self, archive: tarfile.TarFile, rationed: LimitedReader, size: int) -> None:
        self._tar = archive
        self._rationed = rationed
        self._size = size

    def __iter__(self) -> Iterator[ArchiveEntry]:
        with explained():
            while info := self._next():
                yield self._member(info)
            self._check_end()

    def chunks(self, member: ArchiveEntry) -> Iterator[bytes]:
        assert isinstance(member.place, tarfile.TarInfo)
        left, at = member.size, member.place.offset_data
        with explained():
            while left:
                self._rationed.allot(CHUNK)
                self._rationed.seek(at)
                chunk = self._rationed.read(min(left, CHUNK))
                if not chunk:
                    raise ArchiveRejected(ARCHIVE_TRUNCATED.at())
                left, at = left - len(chunk), at + len(chunk)
                yield chunk

    def _next(self) -> tarfile.TarInfo | None:
        before = self._tar.offset
        self._rationed.allot(_HEADER_BYTES, is_header=True)
        info = self._tar.next()
        self._tar.members = []  # type: ignore[attr-defined]  # each is kept once, by its path
        if len(self._tar.pax_headers) > _HEADER_FIELDS:
            raise ArchiveRejected(
                ARCHIVE_CORRUPT.at("The archive says too much of all its members.")
            )
        if info:
            info.pax_headers = {}
            if info.size < 0 or self._tar.offset < max(before, info.offset_data):
                raise ArchiveRejected(ARCHIVE_CORRUPT.at(of(info.name, "has a size below zero")))
        return info

    def _member(self, info: tarfile.TarInfo) -> ArchiveEntry:
        name = info.name
        utf8(name.encode(errors="surrogateescape"), name)
        if info.islnk():
            raise ArchiveRejected(ARCHIVE_HARD_LINK.at(of(name, "is a hard link")))
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
            what = "has holes" if info.issparse() else "is a pipe, a socket or a device"
            raise ArchiveRejected(ARCHIVE_SPECIAL_MEMBER.at(of(name, what)))
        if kind == S_IFREG and info.offset_data + info.size > self._size:
            raise ArchiveRejected(ARCHIVE_TRUNCATED.at())
        target = None
        if kind == S_IFLNK:
            target = utf8(info.linkname.encode(errors="surrogateescape"), name)
        return ArchiveEntry(name, kind | S_IMODE(info.mode), info.size, target, info)

    def _check_end(self) -> None:
        self._rationed.allot(_BLOCK)
        self._rationed.seek(self._tar.offset)
        block = self._rationed.read(_BLOCK)
        if block.strip(b"\0"):
            kind = ARCHIVE_TRUNCATED if len(block) < _BLOCK else ARCHIVE_CORRUPT
            raise ArchiveRejected(kind.at())
