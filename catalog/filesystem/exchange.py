"""Exchange of two names, atomically where the file system can."""

import ctypes
import errno
import os
from pathlib import Path

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
