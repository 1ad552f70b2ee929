"""Opens files below a directory, and nothing else: no link is followed, nothing is waited for."""

import errno
import os
from collections.abc import Sequence
from stat import S_ISREG
from typing import BinaryIO

from catalog.model.errors import PathRefused
from catalog.text.suggestions import shown

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
# Opening a FIFO would wait for its other end, and a terminal could become ours.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


def open_file(top: str, directories: Sequence[str], path: str) -> BinaryIO:
    """Open the regular file that a path names below a directory, which lies below `top`.

    `top` is trusted, each name in `directories` and each part of the path is not: it must be
    the name of a real directory, the last one that of a regular file. The caller closes the
    file. Raises PathRefused, FileNotFoundError and other OSErrors.
    """
    *folders, name = [*directories, *path.split("/")]
    at = os.open(top, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            above, at = at, _enter(at, folder, path)
            os.close(above)
        return _regular(_opened(name, _FILE, at, path), path)
    finally:
        os.close(at)


def _enter(at: int, folder: str, path: str) -> int:
    return _opened(folder, _DIRECTORY, at, path)


def _opened(name: str, flags: int, at: int, path: str) -> int:
    if name in ("", ".", "..") or "/" in name or "\0" in name:
        raise PathRefused(f"{shown(path)} is no path of a file inside a skill.")
    try:
        return os.open(name, flags, dir_fd=at)
    except OSError as error:
        # A link gives ELOOP, or ENOTDIR where a directory was wanted; a socket gives ENXIO.
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
            raise _not_regular(path) from None
        raise


def _regular(handle: int, path: str) -> BinaryIO:
    if S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "rb")
    os.close(handle)
    raise _not_regular(path)


def _not_regular(path: str) -> PathRefused:
    return PathRefused(
        f"{shown(path)} is a link or a special file on the disk, not the regular "
        "file that the catalog knows; it is not followed or opened."
    )
