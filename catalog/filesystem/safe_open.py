"""Safe opening of files below a directory: without following links and without blocking."""

import errno
import os
from collections.abc import Sequence
from io import BufferedReader
from stat import S_ISREG

from catalog.model.errors import PathRefused
from catalog.text.suggestions import shown

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# Opening a FIFO would block, and a terminal could become the controlling terminal.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


def open_file(top: str, directories: Sequence[str], path: str) -> BufferedReader:
    """Open a regular file by its path below nested `directories` of `top`.

    `top` is trusted. The names in `directories` and the parts of the path are not: each must be a
    real directory, and the last part a regular file. The caller closes the file. Raises
    PathRefused, FileNotFoundError and other OSErrors.
    """
    *folders, name = [*directories, *path.split("/")]
    dir_fd = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            parent_fd, dir_fd = dir_fd, _enter(dir_fd, folder, path)
            os.close(parent_fd)
        return _regular(_opened(name, _FILE, dir_fd, path), path)
    finally:
        os.close(dir_fd)


def _enter(dir_fd: int, folder: str, path: str) -> int:
    return _opened(folder, _DIRECTORY, dir_fd, path)


def _opened(name: str, flags: int, dir_fd: int, path: str) -> int:
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise PathRefused(f"{shown(path)} is not a path of a file inside a skill.")
    try:
        return os.open(name, flags, dir_fd=dir_fd)
    except OSError as error:
        # A link raises ELOOP, or ENOTDIR if a directory is expected; a socket raises ENXIO.
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
            raise _not_regular(path) from None
        raise


def _regular(handle: int, path: str) -> BufferedReader:
    if S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    raise _not_regular(path)


def _not_regular(path: str) -> PathRefused:
    return PathRefused(
        f"{shown(path)} is a link or a special file on disk, not the regular file of the "
        "catalog; it is not opened."
    )
