"""Opens files below a root: the very one that a walk saw, or whatever lies there by now."""

import codecs
import errno
import os
from collections.abc import Callable
from operator import attrgetter
from stat import S_ISREG

from pipeline.roots.local.root_directory import RootDirectory


def opened(root: RootDirectory, path: str, expected: os.stat_result) -> int:
    """Return the descriptor of a file below a root, which the caller closes.

    Only the very inode that the walk saw inside the root is opened, whatever the path leads to by
    now. PermissionError if it must not be read, OSError if it is not as it was seen.
    """
    file = root.file_behind_links(path)
    try:
        found = os.fstat(file)
        if not S_ISREG(found.st_mode) or identity(found) != identity(expected):
            raise OSError(errno.ESTALE, "changed since it was seen", path)
    except OSError:
        os.close(file)
        raise
    return file


def opened_inside(root: RootDirectory, path: str) -> int:
    """Return the descriptor of a regular file, wherever its path leads inside a root.

    The caller closes it. Raises OSError.
    """
    file = root.file_behind_links(path)
    try:
        if not S_ISREG(os.fstat(file).st_mode):
            raise OSError(errno.ESTALE, "is no regular file any more", path)
    except OSError:
        os.close(file)
        raise
    return file


def read_head(root: RootDirectory, path: str, expected: os.stat_result, most: int) -> bytes:
    """Return the first bytes of a file, all of one that has no more than `most`.

    PermissionError if it must not be read, OSError if it is not as it was seen, or changes.
    """
    file = opened(root, path, expected)
    try:
        head = _read(file, min(expected.st_size, most))
        if identity(os.fstat(file)) != identity(expected):
            raise OSError(errno.ESTALE, "changed while it was read", path)
    finally:
        os.close(file)
    return head


identity: Callable[[os.stat_result], tuple[int, ...]] = attrgetter(
    "st_dev", "st_ino", "st_mode", "st_size", "st_mtime_ns", "st_ctime_ns"
)
"""Returns what tells a file from another and from itself before a change."""


def is_text(head: bytes, *, whole: bool) -> bool:
    """Say whether bytes are UTF-8 without NUL; the last character of a mere head may be cut."""
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
