"""Entries of an archive of any kind, and the limits of its readers.

Nothing that an archive says of itself is believed: what is read is counted, and what a reader may
read at once is rationed. Whatever is wrong raises ArchiveRejected.
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
from catalog.text.quoting import quoted
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
"""What a reader may need to find its way, beside what it is asked for."""
RATIO = 200
"""How many times larger than itself an archive may become, …"""
HARMLESS_BYTES = 16 * 1024 * 1024
"""… unless it stays within this."""

_LONG_NUMBER = re.compile(rb"\d{100}")
"""In a header it takes tarfile, before Python 3.11.10, the square of its length to read."""

EntryInfo: TypeAlias = zipfile.ZipInfo | tarfile.TarInfo


class ArchiveRejected(Exception):
    """Nothing in the archive is to be read, for the reason that the finding says."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message)
        self.finding = finding


@dataclass(frozen=True, slots=True)
class ArchiveEntry:
    """A file, directory or link in an archive."""

    name: str  # as it is written there
    mode: int  # as in a stat, with its type
    size: int  # bytes, if it is a file
    target: str | None  # where it leads, if it is a link
    place: EntryInfo


class ArchiveEntries(Protocol):
    """An open archive."""

    def __iter__(self) -> Iterator[ArchiveEntry]:
        """Yield what it holds; ArchiveRejected, OSError."""

    def chunks(self, member: ArchiveEntry) -> Iterator[bytes]:
        """Yield the bytes of a file, as many as it is said to have; ArchiveRejected, OSError."""


def check_size(unpacked: int, packed: int, limits: Limits) -> None:
    """Refuse an archive that has become too large for what was read of it; both are bytes."""
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
    """A file of which a reader gets no more than it was allotted."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._left = 0
        self._refusal = ARCHIVE_CORRUPT
        self._is_header = False
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def allot(
        self, size: int, refusal: FindingType = ARCHIVE_CORRUPT, *, is_header: bool = False
    ) -> None:
        """Let so many bytes be read from now on; more is refused with the finding."""
        self._left, self._refusal, self._is_header = size, refusal, is_header

    def read(self, size: int = -1) -> bytes:
        """Read as a file does; ArchiveRejected."""
        if size > self._left:
            raise ArchiveRejected(self._refusal.at())
        data = self._file.read(size if size >= 0 else self._left + 1)
        self._left -= len(data)
        if self._left < 0 or (self._is_header and _LONG_NUMBER.search(data)):
            raise ArchiveRejected(self._refusal.at())
        return data


@contextmanager
def explained() -> Iterator[None]:
    """Turn all that the readers raise on bytes that are not theirs into one refusal."""
    try:
        yield
    except (ArchiveRejected, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise ArchiveRejected(ARCHIVE_NAME_NOT_UTF8.at()) from error
    except Exception as error:
        # A seek to where nothing is raises EINVAL; the other errors of the system are its own.
        if isinstance(error, OSError) and error.errno not in (None, EINVAL):
            raise
        log.debug("an archive is refused", exc_info=True)
        raise ArchiveRejected(
            ARCHIVE_CORRUPT.at(f"The archive cannot be read: {_plain(error)}.")
        ) from error


def _plain(error: Exception) -> str:
    return quoted(str(error) or type(error).__name__)


def of(name: str, what: str) -> str:
    """Return the sentence that says what is the matter with a member."""
    return f"{quoted(name)} {what}."


def utf8(written: bytes, name: str) -> str:
    """Return text that was written in UTF-8; ArchiveRejected, which names the entry."""
    try:
        return written.decode()
    except UnicodeDecodeError:
        raise ArchiveRejected(
            ARCHIVE_NAME_NOT_UTF8.at(of(name, "does not have its name in UTF-8"))
        ) from None
