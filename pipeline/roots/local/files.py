"""Opening of files below a root: the file that a walk saw, or the present one."""

import codecs
import errno
import os
from collections.abc import Callable
from operator import attrgetter
from stat import S_ISREG

from pipeline.roots.local.root_directory import RootDirectory


def open_expected(root: RootDirectory, path: str, expected: os.stat_result) -> int:
    """Return the descriptor of a file below a root, which the caller closes.

    Only the inode that the walk saw inside the root is opened, even if the path leads elsewhere
    by now. PermissionError if it may not be read, OSError if it has changed since.
    """
    file = root.file_behind_links(path)
    try:
        stat = os.fstat(file)
        if not S_ISREG(stat.st_mode) or identity(stat) != identity(expected):
            raise OSError(errno.ESTALE, "changed since the walk", path)
    except OSError:
        os.close(file)
        raise
    return file


def opened_inside(root: RootDirectory, path: str) -> int:
    """Return the descriptor of the regular file at a path inside a root, which may use links.

    The caller closes it. Raises OSError.
    """
    file = root.file_behind_links(path)
    try:
        if not S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.ESTALE, "is no longer a regular file", path)
    except OSError:
        os.close(file)
        raise
    return file


def read_head(root: RootDirectory, path: str, expected: os.stat_result, most: int) -> bytes:
    """Return the first bytes of a file, at most `most`.

    PermissionError if it may not be read, OSError if it has changed since the walk.
    """
    file = open_expected(root, path, expected)
    try:
        head = _read(file, min(expected.st_size, most))
        if identity(os.fstat(file)) != identity(expected):
            raise OSError(errno.ESTALE, "changed while it was read", path)
    finally:
        os.close(file)
    return head


def head_inside(root: RootDirectory, path: str, most: int) -> bytes:
    """Return the first `most` bytes of the regular file at a path without links; OSError."""
    file = root.file(path)
    try:
        if not S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.ESTALE, "is no longer a regular file", path)
        return _read(file, most)
    finally:
        os.close(file)


identity: Callable[[os.stat_result], tuple[int, ...]] = attrgetter(
    "st_dev", "st_ino", "st_mode", "st_size", "st_mtime_ns", "st_ctime_ns"
)
"""Values of a stat that differ between two files, and after any change of a file."""


def is_text(head: bytes, *, whole: bool) -> bool:
    """Whether bytes are UTF-8 without NUL; if not `whole`, the last character may be cut."""
    if b"\0" in head:
        return False
    try:
        codecs.utf_8_decode(head, "strict", whole)
    except UnicodeDecodeError:
        return False
    return True


def _read(file: int, size: int) -> bytes:
    head = os.read(file, size)
    while len(head) < size and (more := os.read(file, size - len(head))):
        head += more  # a signal cut the read short
    return head
