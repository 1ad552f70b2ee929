"""Outcome files: their names, and their bytes, read without following links."""

import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

from catalog.model.paths import text_path
from pipeline.roots.names import is_junk

MOST_BYTES = 16 * 2**20
"""Bytes of one outcome, and those of a file of JSON Lines that are read at once."""
QUARANTINE = "quarantine"
"""Folder, beside those of the skills, to which bad files are moved with their findings."""
_LINES = (".jsonl", ".ndjson")
_TAIL = 4096
"""Bytes before the end of the known part by which a file shows that it only grew."""


def has_lines(path: str) -> bool:
    """Return whether a file has an outcome in each line, by its name."""
    return path.endswith(_LINES)


def all_files(folder: Path) -> Iterator[str]:
    """Yield the paths of possible outcome files below a folder, oldest first, without opening them.

    Memory writes are handed on in this order.
    """
    entries = []
    for directory, names, files in os.walk(folder):
        inner = os.path.relpath(directory, folder)
        names[:] = [name for name in names if _may_hold_outcomes(inner, name)]
        for name in files:
            path = name if inner == "." else f"{inner}/{name}"
            if _may_be_outcome(path):
                entries.append((_changed(f"{directory}/{name}"), text_path(path)))
    yield from (path for _, path in sorted(entries))


def outcome_at(folder: Path, hinted: str) -> str | None:
    """Return the path of the outcome file at a hinted absolute path of the system, if any."""
    prefix = f"{os.path.abspath(folder)}/"
    if not hinted.startswith(prefix):
        return None
    path = hinted.removeprefix(prefix)
    return text_path(path) if _may_be_outcome(path) else None


def _changed(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime_ns
    except OSError:
        return 0


def _may_hold_outcomes(directory: str, name: str) -> bool:
    return not is_junk(name) and not (directory == "." and name == QUARANTINE)


def _may_be_outcome(path: str) -> bool:
    names = path.split("/")
    return (
        names[-1].endswith((".json", *_LINES))
        and names[0] != QUARANTINE
        and not any(map(is_junk, names))
        and not names[-1].startswith(".")
    )


def fingerprint_of(stat: os.stat_result) -> str:
    """Return a value that changes with a file."""
    return f"{stat.st_ino}-{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}"


class Content(NamedTuple):
    """Bytes of a file."""

    data: bytes
    start: int  # number of bytes before them
    before: bytes  # the last of those
    stat: os.stat_result  # after reading

    def tail(self, size: int) -> str:
        """Return the SHA-256 of the end of the file's part up to so many bytes of the data."""
        return _tail_of(self.before + self.data[:size])


def read(path: str, dir_fd: int | None = None, start: int = 0, tail: str = "") -> Content:
    """Return bytes of a file, MOST_BYTES + 1 at most.

    They begin at `start` if the bytes before it still have this tail, else at 0. Raises OSError.
    """
    handle = os.open(
        path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd
    )
    with os.fdopen(handle, "rb") as file:
        if not S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        file.seek(max(0, start - _TAIL))
        before = file.read(min(start, _TAIL))
        if _tail_of(before) != tail:
            start, before = 0, b""
        file.seek(start)
        data = file.read(MOST_BYTES + 1)
        return Content(data, start, before, os.fstat(handle))


def _tail_of(data: bytes) -> str:
    return hashlib.sha256(data[-_TAIL:]).hexdigest()
