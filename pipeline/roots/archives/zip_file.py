"""Entries of a zip file."""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from stat import S_IFDIR, S_IFLNK, S_IFMT, S_IFREG, S_IMODE
from typing import IO, cast

from pipeline.roots.archives.codes import (
    ARCHIVE_COMPRESSION,
    ARCHIVE_CORRUPT,
    ARCHIVE_ENCRYPTED,
    ARCHIVE_LINK_LEAVES,
    ARCHIVE_SPECIAL_MEMBER,
    ARCHIVE_TOO_MANY_MEMBERS,
    ARCHIVE_TRUNCATED,
)
from pipeline.roots.archives.entries import (
    CHUNK,
    READER_BYTES,
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

_BYTES_PER_ENTRY = 256  # of the central directory, on average
_TARGET_BYTES = 4096  # of a link's target
_UNIX = {3, 19}  # systems that write modes; 19 is macOS
_ENCRYPTED, _UTF8_NAME = 0x1 | 0x40, 0x800
_START, _END = b"PK\3\4", b"PK\5\6"
_RECORD_BYTES = 22  # of the record at the end …
_END_BYTES = _RECORD_BYTES + 65_535  # … with a comment, at most


@contextmanager
def open_zip(file: IO[bytes], size: int, limits: Limits) -> Iterator[ArchiveEntries]:
    """Open a zip of `size` bytes; ArchiveRejected, OSError."""
    reader = LimitedReader(file)
    with rejecting():
        archive = _archive(reader, size, limits)
    with archive:
        yield _Zip(archive, reader, size, limits)


def _archive(file: LimitedReader, size: int, limits: Limits) -> zipfile.ZipFile:
    """Read the central directory, whose size is not limited by the format."""
    file.allot(limits.archive_members * _BYTES_PER_ENTRY + READER_BYTES, ARCHIVE_TOO_MANY_MEMBERS)
    try:
        return zipfile.ZipFile(cast(IO[bytes], file))
    except zipfile.BadZipFile as error:
        file.allot(_END_BYTES + READER_BYTES)
        file.seek(0)
        starts_well = _START.startswith(file.read(len(_START)))
        file.seek(max(0, size - _END_BYTES))
        tail = file.read(_END_BYTES)
        end = tail.rfind(_END)
        if starts_well and (end < 0 or len(tail) - end < _RECORD_BYTES):
            raise ArchiveRejected(ARCHIVE_TRUNCATED.at()) from error
        raise


class _Zip:
    """Entries of a zip. Only deflate is supported: other methods cannot limit their output."""

    def __init__(
        self, archive: zipfile.ZipFile, reader: LimitedReader, size: int, limits: Limits
    ) -> None:
        self._zip = archive
        self._reader = reader
        self._size = size
        self._limits = limits

    def __iter__(self) -> Iterator[ArchiveEntry]:
        unpacked = 0
        with rejecting():
            for info in self._zip.infolist():
                unpacked += info.file_size
                check_size(unpacked, self._size, self._limits)
                yield self._entry(info)

    def chunks(self, entry: ArchiveEntry) -> Iterator[bytes]:
        assert isinstance(entry.info, zipfile.ZipInfo)
        left = entry.size
        with rejecting(), self._open(entry.info) as stream:
            while chunk := self._read(stream):
                left -= len(chunk)
                yield chunk
            if left:
                raise ArchiveRejected(
                    ARCHIVE_CORRUPT.at(about(entry.name, "does not have its declared size"))
                )

    def _entry(self, info: zipfile.ZipInfo) -> ArchiveEntry:
        name = _zip_name(info)
        if info.flag_bits & _ENCRYPTED:
            raise ArchiveRejected(ARCHIVE_ENCRYPTED.at(about(name, "is encrypted")))
        mode = info.external_attr >> 16 if info.create_system in _UNIX else 0
        kind = S_IFDIR if name.endswith("/") else S_IFMT(mode) or S_IFREG
        if kind not in (S_IFDIR, S_IFREG, S_IFLNK):
            raise ArchiveRejected(
                ARCHIVE_SPECIAL_MEMBER.at(about(name, "is a pipe, a socket or a device"))
            )
        if kind != S_IFDIR and info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ArchiveRejected(
                ARCHIVE_COMPRESSION.at(about(name, f"is compressed by method {info.compress_type}"))
            )
        target = self._target(info, name) if kind == S_IFLNK else None
        return ArchiveEntry(name, kind | S_IMODE(mode), info.file_size, target, info)

    def _target(self, info: zipfile.ZipInfo, name: str) -> str:
        if info.file_size > _TARGET_BYTES:
            raise ArchiveRejected(
                ARCHIVE_LINK_LEAVES.at(about(name, "is a link with a target that is too long"))
            )
        with self._open(info) as stream:
            return utf8(self._read(stream), name)

    def _open(self, info: zipfile.ZipInfo) -> IO[bytes]:
        self._reader.allot(READER_BYTES)
        return self._zip.open(info)

    def _read(self, stream: IO[bytes]) -> bytes:
        self._reader.allot(CHUNK + READER_BYTES)
        return stream.read(CHUNK)


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Return the name of an entry, which many programs write in UTF-8 without the UTF-8 flag."""
    name = info.orig_filename
    if name.isascii() or info.flag_bits & _UTF8_NAME:
        return name
    try:
        encoded = name.encode("cp437")  # as zipfile has decoded it
    except UnicodeEncodeError:
        return name
    return utf8(encoded, name)
