"""Exchange of two names, atomically where the file system can."""

import ctypes
import errno
import os
from pathlib import Path

_AT_FDCWD, _EXCHANGE = -100, 2  # of renameat2(2)
_NOT_THERE = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP}


def exchange_names(one: Path, other: Path) -> None:
    """Exchange two files or folders of one file system. Raises OSError.

    Where they cannot be exchanged atomically, `other` is missing for a moment.
    """
    if not exchanged(one, other):
        _exchange_in_steps(one, other)


def exchanged(one: Path | str, other: Path | str, dir_fd: int = _AT_FDCWD) -> bool:
    """Exchange two names atomically; return False if the system does not support it.

    Relative paths start from an open directory. Raises OSError.
    """
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(dir_fd, os.fsencode(one), dir_fd, os.fsencode(other), _EXCHANGE) == 0:
        return True
    if (code := ctypes.get_errno()) in _NOT_THERE:
        return False
    raise OSError(code, os.strerror(code), str(other))


def _exchange_in_steps(one: Path, other: Path) -> None:
    """Exchange two names through a third one, which scans ignore."""
    third = one.with_name(f".skilldrop-{one.name}")
    os.rename(one, third)
    os.rename(other, one)
    try:
        os.rename(third, other)
    except BaseException:
        os.rename(one, other)
        os.rename(third, one)
        raise
