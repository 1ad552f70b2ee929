"""Staging of one version in its own directory, with every byte verified."""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from io import FileIO, RawIOBase
from typing import Any, NamedTuple, TypeAlias

from catalog.filesystem.operations import DIRECTORY, FILE, descended, flags, remove
from catalog.model.errors import NotAsJudged
from catalog.model.paths import os_path

CHUNK = 1024 * 1024
"""Bytes copied per read."""
WORTH_CLONING = 64 * 1024
"""Size in bytes from which sharing blocks is cheaper than copying them."""
_FICLONE = 0x40049409  # linux/fs.h
_NEW_FILE = flags("RDWR CREAT EXCL NOFOLLOW")


class PackageFile(NamedTuple):
    """One file of a version, as it was hashed when it was judged."""

    path: str  # as text, see `file_names`
    size: int  # bytes
    sha256: str
    mode: int  # 0o755 or 0o644, as in FileEntry


Tree: TypeAlias = "dict[str, Tree | PackageFile]"
"""Files and directories of a directory, by their names on disk."""


def tree_of(files: Iterable[PackageFile]) -> Tree:
    """Return the tree that has exactly these files."""
    top: Tree = {}
    for file in files:
        *above, name = os_path(file.path).split("/")
        inner: Any = top
        for directory in above:
            inner = inner.setdefault(directory, {})
        inner[name] = file
    return top


Original: TypeAlias = Callable[[str], RawIOBase]
"""Function that opens a file of a skill folder, on disk or in an archive, by its path as text.

It raises OSError if the file has changed since the scan.
"""


def files_in(folder: int) -> Original:
    """Return the files of an open directory, which no link leads out of."""

    def opened(path: str) -> RawIOBase:
        *above, name = os_path(path).split("/")
        with descended(folder, above) as parent:
            return FileIO(os.open(name, FILE, dir_fd=parent))

    return opened


def stage(name: str, dir_fd: int, files: Sequence[PackageFile], original: Original) -> None:
    """Make a read-only directory of exactly these files in an open directory.

    Raises NotAsJudged for a file that has changed since it was hashed, and OSError if the
    package cannot be written; an unfinished package then remains.
    """
    try:
        os.mkdir(name, 0o700, dir_fd=dir_fd)
    except FileExistsError:  # unfinished or damaged
        remove(name, dir_fd)
        os.mkdir(name, 0o700, dir_fd=dir_fd)
    _fill(name, dir_fd, tree_of(files), original)


def _fill(name: str, dir_fd: int, tree: Tree, original: Original) -> None:
    """Write the files of a new directory, and make it read-only."""
    folder = os.open(name, DIRECTORY, dir_fd=dir_fd)
    try:
        for below, entry in tree.items():
            if isinstance(entry, PackageFile):
                _copy(original, entry, below, folder)
            else:
                os.mkdir(below, 0o700, dir_fd=folder)
                _fill(below, folder, entry, original)
        os.fchmod(folder, 0o555)
    finally:
        os.close(folder)


def _copy(original: Original, file: PackageFile, name: str, folder: int) -> None:
    try:
        source = original(file.path)
    except OSError as error:
        raise NotAsJudged(f"{file.path} can no longer be read: {error}") from error
    with source:
        target = os.open(name, _NEW_FILE, 0o600, dir_fd=folder)
        try:
            os.fchmod(target, file.mode & 0o555)
            if file.size >= WORTH_CLONING and _is_cloned(source, target):
                sha256 = hash_of(target)
            else:
                sha256 = _copy_bytes(source, target, file)
        finally:
            os.close(target)
    if sha256 != file.sha256:
        raise NotAsJudged(f"{file.path} changed after it was judged")


def _is_cloned(source: RawIOBase, target: int) -> bool:
    """Share the blocks of a file; return whether the file system supports that."""
    from fcntl import ioctl  # Windows has none

    try:
        ioctl(target, _FICLONE, source.fileno())
    except OSError:
        return False
    return True


def _copy_bytes(source: RawIOBase, target: int, file: PackageFile) -> str:
    """Copy a file and return its hash; of a longer file, only a byte more is copied."""
    sha256 = hashlib.sha256()
    left = file.size
    while left >= 0:
        try:
            chunk = source.read(min(left + 1, CHUNK))
        except OSError as error:
            raise NotAsJudged(f"{file.path} can no longer be read: {error}") from error
        if not chunk:
            break
        left -= len(chunk)
        sha256.update(chunk)
        while chunk:
            chunk = chunk[os.write(target, chunk) :]
    return sha256.hexdigest()


def hash_of(handle: int) -> str:
    """Return the SHA-256 of an open file, from its current position."""
    with open(handle, "rb", closefd=False) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
