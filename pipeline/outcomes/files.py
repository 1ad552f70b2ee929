"""Outcome files: their names and their bytes, without following links."""

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from stat import S_ISREG

from catalog.filesystem.operations import FILE
from catalog.model.paths import text_path
from pipeline.roots.file_kinds import is_junk

MOST_BYTES = 16 * 2**20
"""Bytes of one outcome."""


def all_files(folder: Path) -> Iterator[str]:
    """Yield the paths of possible outcome files below a folder, oldest first, without opening them.

    Memory writes are handed on in this order.
    """
    entries = []
    for directory, _, files in os.walk(folder):
        for name in files:
            path = os.path.relpath(f"{directory}/{name}", folder)
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


def _may_be_outcome(path: str) -> bool:
    names = path.split("/")
    return (
        names[-1].endswith(".json")
        and not any(map(is_junk, names))
        and not names[-1].startswith(".")
    )


def fingerprint_of(stat: os.stat_result) -> str:
    """Return a value that changes with a file."""
    return f"{stat.st_ino}-{stat.st_size}-{stat.st_mtime_ns}-{stat.st_ctime_ns}"


def read(path: str, dir_fd: int | None = None) -> tuple[bytes, os.stat_result]:
    """Return the bytes of a file, MOST_BYTES + 1 at most, and its stat after that.

    Raises OSError.
    """
    handle = os.open(path, FILE, dir_fd=dir_fd)
    with os.fdopen(handle, "rb") as file:
        if not S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file", path)
        return file.read(MOST_BYTES + 1), os.fstat(handle)
