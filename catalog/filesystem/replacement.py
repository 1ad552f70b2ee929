"""Replacement of files and folders, so that readers find them whole and a power cut leaves one."""

import ctypes
import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from catalog.filesystem.by_descriptor import directory

_syncfs = ctypes.CDLL(None, use_errno=True).syncfs


def sync(dir_fd: int) -> None:
    """Wait until the file system of an open directory is written to disk. Raises OSError."""
    if _syncfs(dir_fd):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


@contextmanager
def replaced(path: Path, mode: int = 0o644) -> Iterator[IO[bytes]]:
    """Yield a new file beside a path, which replaces it at the end, or is removed. Raises OSError.

    Scans ignore its name.
    """
    handle, beside = tempfile.mkstemp(prefix=".skilldrop-", dir=path.parent)
    try:
        with open(handle, "w+b") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside)
        raise
    with directory(path.parent) as folder:
        sync(folder)


_AT_FDCWD, _EXCHANGE = -100, 2  # of renameat2(2)
_NOT_THERE = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


def exchange_names(one: Path | str, other: Path | str, dir_fd: int = _AT_FDCWD) -> None:
    """Exchange two files or folders of one file system. Raises OSError.

    Relative paths start from an open directory. Where the system cannot exchange them atomically,
    `other` is missing for a moment.
    """
    if not exchanged(one, other, dir_fd):
        _exchange_in_steps(one, other, dir_fd)


def exchanged(one: Path | str, other: Path | str, dir_fd: int) -> bool:
    """Exchange two names atomically; return False if the system does not support it."""
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(dir_fd, os.fsencode(one), dir_fd, os.fsencode(other), _EXCHANGE) == 0:
        return True
    if (code := ctypes.get_errno()) in _NOT_THERE:
        return False
    raise OSError(code, os.strerror(code), str(other))


def _exchange_in_steps(one: Path | str, other: Path | str, dir_fd: int) -> None:
    """Exchange two names through a third one, which scans ignore."""
    third = os.path.join(os.path.dirname(one), third_name(os.path.basename(one)))

    def rename(old: Path | str, new: Path | str) -> None:
        os.rename(old, new, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)

    rename(one, third)
    rename(other, one)
    try:
        rename(third, other)
    except BaseException:
        rename(one, other)
        rename(third, one)
        raise


def third_name(one: str) -> str:
    """Return the name that an entry may have for a moment; a kill can leave it."""
    return f".skilldrop-{one}"
