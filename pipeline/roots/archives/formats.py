"""Formats of archives: the entries of a zip or a tar, and the limits of reading them.

The sizes that an archive declares are not trusted: the bytes read are counted, and each read is
limited. Every fault of an archive raises ArchiveRejected.
"""

import gzip
import logging
import os
import re
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EINVAL
from functools import partial
from stat import S_IFDIR, S_IFLNK, S_IFMT, S_IFREG, S_IMODE
from typing import IO, cast

from catalog.model.finding import Finding, FindingType
from catalog.text.visible import quoted
from pipeline.roots.codes import (
    ARCHIVE_BOMB,
    ARCHIVE_COMPRESSION,
    ARCHIVE_CORRUPT,
    ARCHIVE_ENCRYPTED,
    ARCHIVE_LINK_LEAVES,
    ARCHIVE_NAME_NOT_UTF8,
    ARCHIVE_SPECIAL_MEMBER,
    ARCHIVE_TOO_LARGE,
    ARCHIVE_TOO_MANY_MEMBERS,
)
from pipeline.roots.local.folder import Limits

log = logging.getLogger(__name__)

_ZIPS = (".zip", ".skill")
_GZIPS = (".gz", ".tgz")

_CHUNK = 1024 * 1024  # bytes read at once
_READER_BYTES = 256 * 1024
"""Bytes that the zip or tar library may need in addition to the requested ones."""
_RATIO = 200
"""Times its own size that an archive may have when unpacked, …"""
_HARMLESS_BYTES = 16 * 1024 * 1024
"""… unless it has no more than these bytes."""
_LONG_NUMBER = re.compile(rb"\d{100}")
"""Number in a header that tarfile, before Python 3.11.10, reads in quadratic time."""


class ArchiveRejected(Exception):
    """Rejection of a whole archive, with the finding that gives the reason."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """File, directory or link in an open archive."""

    name: str  # as in the archive
    mode: int  # as in a stat, with its type
    size: int  # bytes, if it is a file
    target: str | None  # of a link
    chunks: Callable[[], Iterator[bytes]]
    """Yields the bytes of a file, as many as its declared size; ArchiveRejected, OSError."""


@contextmanager
def opened_entries(
    name: str, file: IO[bytes], size: int, limits: Limits
) -> Iterator[Iterator[ArchiveEntry]]:
    """Open a zip or a tar of `size` bytes, as its name says; ArchiveRejected, OSError."""
    if not size:
        raise ArchiveRejected(ARCHIVE_CORRUPT.at("The archive is empty."))
    if size > limits.archive_bytes:
        raise ArchiveRejected(
            ARCHIVE_TOO_LARGE.at(
                f"The archive has {size:,} bytes; the limit is {limits.archive_bytes:,}."
            )
        )
    if name.lower().endswith(_ZIPS):
        reader = LimitedReader(file)
        with _rejecting():
            archive = _zip(reader, limits)
        with archive:
            yield _zip_entries(archive, reader, size, limits)
        return
    # A compressed tar is unpacked into a spool file that allows access in any order.
    with tempfile.SpooledTemporaryFile(_IN_MEMORY) as spool:
        with _rejecting():
            if name.lower().endswith(_GZIPS):
                _unpack(file, cast(IO[bytes], spool), limits)
                file = cast(IO[bytes], spool)
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            reader = LimitedReader(file)
            reader.allot(_HEADER_BYTES, is_header=True)
            tar = tarfile.TarFile(fileobj=cast(IO[bytes], reader), encoding="utf-8")
        with tar:
            yield _tar_entries(tar, reader, size)


def check_size(unpacked: int, packed: int, limits: Limits) -> None:
    """Reject an archive that unpacks to too many bytes for the packed bytes read so far."""
    if unpacked > limits.archive_bytes:
        raise ArchiveRejected(
            ARCHIVE_TOO_LARGE.at(
                f"The archive unpacks to more than the limit of {limits.archive_bytes:,} bytes."
            )
        )
    if unpacked > max(_HARMLESS_BYTES, _RATIO * packed):
        raise ArchiveRejected(
            ARCHIVE_BOMB.at(f"The archive unpacks to more than {_RATIO} times its size.")
        )


class LimitedReader:
    """File of which only an allotted number of bytes can be read."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._left = 0
        self._rejection = ARCHIVE_CORRUPT
        self._is_header = False
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def allot(
        self, size: int, rejection: FindingType = ARCHIVE_CORRUPT, *, is_header: bool = False
    ) -> None:
        """Allow `size` more bytes to be read; reading more raises ArchiveRejected."""
        self._left, self._rejection, self._is_header = size, rejection, is_header

    def read(self, size: int = -1) -> bytes:
        """Read like a file; ArchiveRejected."""
        if size > self._left:
            raise ArchiveRejected(self._rejection.at())
        data = self._file.read(size if size >= 0 else self._left + 1)
        self._left -= len(data)
        if self._left < 0 or (self._is_header and _LONG_NUMBER.search(data)):
            raise ArchiveRejected(self._rejection.at())
        return data


@contextmanager
def _rejecting() -> Iterator[None]:
    """Turn the errors of the zip and tar libraries on malformed archives into ArchiveRejected."""
    try:
        yield
    except (ArchiveRejected, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise ArchiveRejected(ARCHIVE_NAME_NOT_UTF8.at()) from error
    except Exception as error:
        # A seek outside of the file raises EINVAL; other system errors are not the archive's fault.
        if isinstance(error, OSError) and error.errno not in (None, EINVAL):
            raise
        log.debug("an archive is rejected", exc_info=True)
        reason = quoted(str(error) or type(error).__name__)
        raise ArchiveRejected(
            ARCHIVE_CORRUPT.at(f"The archive cannot be read: {reason}.")
        ) from error


def _refused(kind: FindingType, name: str, problem: str) -> ArchiveRejected:
    """Return the rejection of an archive for the problem of an entry."""
    return ArchiveRejected(kind.at(f"{quoted(name)} {problem}."))


def _utf8(encoded: bytes, name: str) -> str:
    try:
        return encoded.decode()
    except UnicodeDecodeError:
        problem = "has a name that is not valid UTF-8"
        raise _refused(ARCHIVE_NAME_NOT_UTF8, name, problem) from None


# Zip. Only deflate is supported: other methods cannot limit their output.

_BYTES_PER_ENTRY = 256  # of the central directory, on average
_TARGET_BYTES = 4096  # of a link's target
_UNIX = {3, 19}  # systems that write modes; 19 is macOS
_ENCRYPTED, _UTF8_NAME = 0x1 | 0x40, 0x800


def _zip(file: LimitedReader, limits: Limits) -> zipfile.ZipFile:
    """Read the central directory, whose size is not limited by the format."""
    file.allot(limits.archive_members * _BYTES_PER_ENTRY + _READER_BYTES, ARCHIVE_TOO_MANY_MEMBERS)
    return zipfile.ZipFile(cast(IO[bytes], file))


def _zip_entries(
    archive: zipfile.ZipFile, reader: LimitedReader, size: int, limits: Limits
) -> Iterator[ArchiveEntry]:
    unpacked = 0
    with _rejecting():
        for info in archive.infolist():
            unpacked += info.file_size
            check_size(unpacked, size, limits)
            name = _zip_name(info)
            mode = _zip_mode(info, name)
            chunks = partial(_zip_chunks, archive, reader, info, name)
            target = None
            if S_IFMT(mode) == S_IFLNK:
                if info.file_size > _TARGET_BYTES:
                    problem = "is a link with a target that is too long"
                    raise _refused(ARCHIVE_LINK_LEAVES, name, problem)
                target = _utf8(b"".join(chunks()), name)
            yield ArchiveEntry(name, mode, info.file_size, target, chunks)


def _zip_mode(info: zipfile.ZipInfo, name: str) -> int:
    """Return the mode of an entry, as in a stat; ArchiveRejected if it cannot be read."""
    if info.flag_bits & _ENCRYPTED:
        raise _refused(ARCHIVE_ENCRYPTED, name, "is encrypted")
    mode = info.external_attr >> 16 if info.create_system in _UNIX else 0
    kind = S_IFDIR if name.endswith("/") else S_IFMT(mode) or S_IFREG
    if kind not in (S_IFDIR, S_IFREG, S_IFLNK):
        raise _refused(ARCHIVE_SPECIAL_MEMBER, name, "is a pipe, a socket or a device")
    if kind != S_IFDIR and info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        problem = f"is compressed by method {info.compress_type}"
        raise _refused(ARCHIVE_COMPRESSION, name, problem)
    return kind | S_IMODE(mode)


def _zip_chunks(
    archive: zipfile.ZipFile, reader: LimitedReader, info: zipfile.ZipInfo, name: str
) -> Iterator[bytes]:
    left = info.file_size
    with _rejecting():
        reader.allot(_READER_BYTES)
        with archive.open(info) as stream:

            def read() -> bytes:
                reader.allot(_CHUNK + _READER_BYTES)
                return stream.read(_CHUNK)

            for chunk in iter(read, b""):
                left -= len(chunk)
                yield chunk
        if left:
            raise _refused(ARCHIVE_CORRUPT, name, "does not have its declared size")


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Return the name of an entry, which many programs write in UTF-8 without the UTF-8 flag."""
    name = info.orig_filename
    if name.isascii() or info.flag_bits & _UTF8_NAME:
        return name
    try:
        encoded = name.encode("cp437")  # as zipfile has decoded it
    except UnicodeEncodeError:
        return name
    return _utf8(encoded, name)


# Tar. tarfile takes garbage for the end; it is rejected here.

_IN_MEMORY = 16 * 1024 * 1024  # unpacked bytes; a larger archive is spooled to an unnamed file
_HEADER_BYTES = 64 * 1024  # of one entry
_HEADER_FIELDS = 1000  # that apply to all entries
_BLOCK = 512  # bytes


def _unpack(file: IO[bytes], spool: IO[bytes], limits: Limits) -> None:
    """Unpack the gzip streams of a file and check the size on the way."""
    unpacked = 0
    with gzip.GzipFile(fileobj=file) as stream:
        while out := stream.read(_CHUNK):
            unpacked += len(out)
            check_size(unpacked, file.tell(), limits)
            spool.write(out)


def _tar_entries(
    archive: tarfile.TarFile, reader: LimitedReader, size: int
) -> Iterator[ArchiveEntry]:
    with _rejecting():
        while info := _next(archive, reader):
            name = info.name
            _utf8(name.encode(errors="surrogateescape"), name)
            kind = _tar_type(info)
            if kind == S_IFREG and info.offset_data + info.size > size:
                raise ArchiveRejected(ARCHIVE_CORRUPT.at())
            target = None
            if kind == S_IFLNK:
                target = _utf8(info.linkname.encode(errors="surrogateescape"), name)
            chunks = partial(_tar_chunks, reader, info)
            yield ArchiveEntry(name, kind | S_IMODE(info.mode), info.size, target, chunks)
        reader.allot(_BLOCK)
        reader.seek(archive.offset)
        if reader.read(_BLOCK).strip(b"\0"):
            raise ArchiveRejected(ARCHIVE_CORRUPT.at())


def _next(archive: tarfile.TarFile, reader: LimitedReader) -> tarfile.TarInfo | None:
    before = archive.offset
    reader.allot(_HEADER_BYTES, is_header=True)
    info = archive.next()
    archive.members = []  # type: ignore[attr-defined]  # the tree keeps them
    if len(archive.pax_headers) > _HEADER_FIELDS:
        raise ArchiveRejected(
            ARCHIVE_CORRUPT.at("The archive has too many header fields for all its entries.")
        )
    if info:
        info.pax_headers = {}
        if info.size < 0 or archive.offset < max(before, info.offset_data):
            raise _refused(ARCHIVE_CORRUPT, info.name, "has a negative size")
    return info


def _tar_type(info: tarfile.TarInfo) -> int:
    """Return the type of an entry, as in a stat; ArchiveRejected if it cannot be read."""
    if info.isdir():
        return S_IFDIR
    if info.issym():
        return S_IFLNK
    if info.islnk():
        raise _refused(ARCHIVE_SPECIAL_MEMBER, info.name, "is a hard link")
    if info.issparse():
        raise _refused(ARCHIVE_SPECIAL_MEMBER, info.name, "is a sparse file")
    if info.isreg():
        return S_IFREG
    raise _refused(ARCHIVE_SPECIAL_MEMBER, info.name, "is a pipe, a socket or a device")


def _tar_chunks(reader: LimitedReader, info: tarfile.TarInfo) -> Iterator[bytes]:
    left, offset = info.size, info.offset_data
    with _rejecting():
        while left:
            reader.allot(_CHUNK)
            reader.seek(offset)
            chunk = reader.read(min(left, _CHUNK))
            if not chunk:
                raise ArchiveRejected(ARCHIVE_CORRUPT.at())
            left, offset = left - len(chunk), offset + len(chunk)
            yield chunk
