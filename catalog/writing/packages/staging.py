"""Staging of one version in its own directory, with every byte verified."""

import hashlib
import os
from collections.abc import Iterable, Sequence
from fcntl import ioctl
from io import FileIO
from stat import S_IMODE
from typing import NamedTuple, Protocol

from catalog.filesystem.by_descriptor import DIRECTORY, descended, remove
from catalog.model.errors import NotAsJudged
from catalog.model.paths import os_path

CHUNK = 1024 * 1024
"""Bytes copied per read."""
WORTH_CLONING = 64 * 1024
"""Size in bytes from which sharing blocks is cheaper than copying them."""
_FICLONE = 0x40049409  # linux/fs.h
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class PackageFile(NamedTuple):
    """One file of a version, as it was hashed when it was judged."""

    path: str  # as text, see `file_names`
    size: int  # bytes
    sha256: str
    mode: int  # 0o755 or 0o644, as in FileEntry


class Readable(Protocol):
    """An open file, on disk or in an archive."""

    def read(self, size: int, /) -> bytes | None:
        """Return the next bytes; empty at the end."""

    def fileno(self) -> int:
        """Return a descriptor whose blocks may be shared. Raises OSError if it has none."""

    def close(self) -> None:
        """Close the file."""


class Original(Protocol):
    """The files of a skill folder, from which a package is made."""

    def open(self, path: str, /) -> Readable:
        """Open a file by its path as text. Raises OSError if it has changed since the scan."""


class Folder(NamedTuple):
    """Files of an open directory, which no link leads out of."""

    dir_fd: int

    def open(self, path: str, /) -> Readable:
        """Open a file. Raises OSError."""
        *above, name = os_path(path).split("/")
        with descended(self.dir_fd, above) as parent:
            return FileIO(os.open(name, _READ, dir_fd=parent))


class Stager:
    """Writer of packages on one file system."""

    def __init__(self) -> None:
        """Assume at first that blocks can be shared."""
        self._clones = True

    def stage(
        self,
        name: str,
        dir_fd: int,
        files: Sequence[PackageFile],
        original: Original,
    ) -> None:
        """Make a read-only directory of exactly these files in an open directory.

        Raises NotAsJudged for a file that has changed since it was hashed, and OSError if the
        package cannot be written; an unfinished package then remains.
        """
        try:
            os.mkdir(name, 0o755, dir_fd=dir_fd)
        except FileExistsError:  # unfinished or damaged
            remove(name, dir_fd)
            os.mkdir(name, 0o755, dir_fd=dir_fd)
        top = os.open(name, DIRECTORY, dir_fd=dir_fd)
        try:
            directories = directories_of(files)
            for directory in directories:
                os.mkdir(directory, 0o755, dir_fd=top)
            for file in files:
                self._copy(original, file, top)
            for directory in directories:
                _lock(directory, top)
            os.fchmod(top, 0o555)
        finally:
            os.close(top)

    def _copy(self, original: Original, file: PackageFile, top: int) -> None:
        try:
            source = original.open(file.path)
        except OSError as error:
            raise NotAsJudged(f"{file.path} can no longer be read: {error}") from error
        try:
            target = os.open(os_path(file.path), _NEW_FILE, file.mode & 0o555, dir_fd=top)
            try:
                _give_mode(target, file.mode & 0o555)
                if self._hash_of_copy(source, target, file) != file.sha256:
                    raise NotAsJudged(f"{file.path} changed after it was judged")
            finally:
                os.close(target)
        finally:
            source.close()

    def _hash_of_copy(self, source: Readable, target: int, file: PackageFile) -> str:
        if self._clones and file.size >= WORTH_CLONING and self._clone(source, target):
            return hash_of(target)
        return _copy_bytes(source, target, file)

    def _clone(self, source: Readable, target: int) -> bool:
        """Share the blocks of a file; return whether the file system supports that."""
        try:
            ioctl(target, _FICLONE, source.fileno())
        except OSError:
            self._clones = False
        return self._clones


def _lock(directory: str, dir_fd: int) -> None:
    """Make a new directory read-only."""
    handle = os.open(directory, DIRECTORY, dir_fd=dir_fd)
    try:
        os.fchmod(handle, 0o555)
    finally:
        os.close(handle)


def _give_mode(target: int, mode: int) -> None:
    """Set the mode of a file if the umask changed it; checking is cheaper than setting."""
    if S_IMODE(os.fstat(target).st_mode) != mode:
        os.fchmod(target, mode)


def hash_of(handle: int) -> str:
    """Return the SHA-256 of an open file, from its current position."""
    sha256 = hashlib.sha256()
    limit = os.fstat(handle).st_size + 1
    while chunk := os.read(handle, min(limit, CHUNK)):
        sha256.update(chunk)
    return sha256.hexdigest()


def directories_of(files: Iterable[PackageFile]) -> list[str]:
    """Return the directories of files, each after its parent."""
    directories: dict[str, None] = {}
    for file in files:
        path = os_path(file.path)
        end = path.find("/")
        while end != -1:
            directories[path[:end]] = None
            end = path.find("/", end + 1)
    return list(directories)


def _copy_bytes(source: Readable, target: int, file: PackageFile) -> str:
    """Copy a file and return its hash."""
    sha256 = hashlib.sha256()
    left = file.size
    while left >= 0:
        limit = min(left + 1, CHUNK)
        try:
            chunk = source.read(limit)
        except OSError as error:
            raise NotAsJudged(f"{file.path} can no longer be read: {error}") from error
        if not chunk:
            break
        left -= len(chunk)
        sha256.update(chunk)
        written = os.write(target, chunk)
        while written < len(chunk):
            written += os.write(target, chunk[written:])
        if not left and len(chunk) < limit:
            break  # a short read ends a regular file
    return sha256.hexdigest()
