"""Entries of an archive of any format, and the limits of reading it.

The sizes that an archive declares are not trusted: the bytes read are counted, and each read is
limited. Every fault of an archive raises ArchiveRejected.
"""

import logging
import re
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EINVAL
from typing import IO, Protocol, TypeAlias

from catalog.model.finding import Finding, FindingType
from catalog.text.visible import quoted
from pipeline.roots.archives.codes import (
    ARCHIVE_BOMB,
    ARCHIVE_CORRUPT,
    ARCHIVE_NAME_NOT_UTF8,
    ARCHIVE_TOO_LARGE,
)
from pipeline.roots.local.folder import Limits

log = logging.getLogger(__name__)

CHUNK = 1024 * 1024
"""Bytes read at once."""
READER_BYTES = 256 * 1024
"""Bytes that the zip or tar library may need in addition to the requested ones."""
RATIO = 200
"""Times its own size that an archive may have when unpacked, …"""
HARMLESS_BYTES = 16 * 1024 * 1024
"""… unless it has no more than these bytes."""

_LONG_NUMBER = re.compile(rb"\d{100}")
"""Number in a header that tarfile, before Python 3.11.10, reads in quadratic time."""

EntryInfo: TypeAlias = zipfile.ZipInfo | tarfile.TarInfo


class ArchiveRejected(Exception):
    """Rejection of a whole archive, with the finding that gives the reason."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """File, directory or link in an archive."""

    name: str  # as in the archive
    mode: int  # as in a stat, with its type
    size: int  # bytes, if it is a file
    target: str | None  # of a link
    info: EntryInfo  # of the zip or tar library


class ArchiveEntries(Protocol):
    """Open archive."""

    def __iter__(self) -> Iterator[ArchiveEntry]:
        """Yield the entries; ArchiveRejected, OSError."""

    def chunks(self, entry: ArchiveEntry) -> Iterator[bytes]:
        """Yield the bytes of a file, as many as its declared size; ArchiveRejected, OSError."""


def check_size(unpacked: int, packed: int, limits: Limits) -> None:
    """Reject an archive that unpacks to too many bytes for the packed bytes read so far."""
    if unpacked > limits.archive_bytes:
        raise ArchiveRejected(
            ARCHIVE_TOO_LARGE.at(
                f"The archive unpacks to more than the limit of {limits.archive_bytes:,} bytes."
            )
        )
    if unpacked > max(HARMLESS_BYTES, RATIO * packed):
        raise ArchiveRejected(
            ARCHIVE_BOMB.at(f"The archive unpacks to more than {RATIO} times its size.")
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
def rejecting() -> Iterator[None]:
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
        raise ArchiveRejected(
            ARCHIVE_CORRUPT.at(f"The archive cannot be read: {_plain(error)}.")
        ) from error


def _plain(error: Exception) -> str:
    return quoted(str(error) or type(error).__name__)


def about(name: str, problem: str) -> str:
    """Return a sentence about an entry: its name and the problem."""
    return f"{quoted(name)} {problem}."


def utf8(encoded: bytes, name: str) -> str:
    """Return text decoded from UTF-8; ArchiveRejected with the entry's name."""
    try:
        return encoded.decode()
    except UnicodeDecodeError:
        raise ArchiveRejected(
            ARCHIVE_NAME_NOT_UTF8.at(about(name, "has a name that is not valid UTF-8"))
        ) from None
