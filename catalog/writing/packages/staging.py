"""Staging of one version in a directory of its own, with every byte verified."""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from fcntl import ioctl
from stat import S_IFREG, S_IMODE
from typing import NamedTuple, Protocol, TypeAlias

from catalog.filesystem.by_descriptor import DIRECTORY, descended, remove
from catalog.model.errors import NotAsJudged
from catalog.model.paths import os_path

CHUNK = 1024 * 1024
"""Bytes copied at once."""
WORTH_CLONING = 64 * 1024
"""Bytes from which on sharing blocks is cheaper than writing them again."""
_FICLONE = 0x40049409  # linux/fs.h
_READ = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW


class PackageFile(NamedTuple):
    """One file of a version, as it was hashed when it was judged."""

    path: str  # as text, see `file_names`
    size: int  # bytes
    sha256: str
    mode: int  # 0o755 or 0o644, as in FileEntry

    @property
    def content(self) -> "Content":
        """What files have in common that may be one file."""
        return (self.sha256, self.mode)


Content: TypeAlias = tuple[str, int]
"""SHA-256 and mode."""


class Readable(Protocol):
    """An open file, of a disk or of an archive."""

    def read(self, size: int, /) -> bytes | None:
        """Return the next bytes; none at the end."""

    def fileno(self) -> int:
        """Return a descriptor whose blocks may be shared. Raises OSError where there is none."""

    def close(self) -> None:
        """Let go of it."""


class Original(Protocol):
    """The files of a skill folder, from which a package is made."""

    def open(self, path: str, /) -> Readable:
        """Open a file by its path as text. Raises OSError where it is not as it was seen."""


class HardLinkCandidates(NamedTuple):
    """The files of an earlier package, which a new one may share while they are as accepted."""

    package_path: str = ""
    paths: Mapping[Content, str] = {}  # in the package

    def link(self, file: PackageFile, package: int, at: int) -> bool:
        """Make a file a hard link to its twin, once that was hashed; tell whether that can be."""
        path = self.paths.get(file.content)
        if path is None:
            return False
        *above, name = os_path(path).split("/")
        try:
            with descended(package, above) as inside:
                twin = os.open(name, _READ, dir_fd=inside)
            try:
                stat = os.fstat(twin)
                if (stat.st_mode, stat.st_size) != (S_IFREG | file.mode & 0o555, file.size):
                    return False
                if hash_of(twin) != file.sha256:
                    return False
                # By its descriptor: what was hashed is linked, whatever has its name by now.
                os.link(f"/proc/self/fd/{twin}", os_path(file.path), dst_dir_fd=at)
            finally:
                os.close(twin)
        except OSError:  # it is gone, or has too many links
            return False
        return True


class Stager:
    """Makes packages on one file system."""

    def __init__(self) -> None:
        """Begin with the hope that blocks can be shared."""
        self._clones = True

    def stage(
        self,
        name: str,
        at: int,
        files: Sequence[PackageFile],
        original: Original,
        candidates: HardLinkCandidates,
        earlier: int | None,
    ) -> None:
        """Make a directory in an open one that holds just these files, read-only.

        What is equal to a twin in the package `earlier` becomes a hard link to it. Raises
        NotAsJudged where a file is no longer as it was hashed, and OSError where the package cannot
        be written; what was written then stays behind.
        """
        try:
            os.mkdir(name, 0o755, dir_fd=at)
        except FileExistsError:  # half made, or damaged
            remove(name, at)
            os.mkdir(name, 0o755, dir_fd=at)
        top = os.open(name, DIRECTORY, dir_fd=at)
        try:
            directories = directories_of(files)
            for directory in directories:
                os.mkdir(directory, 0o755, dir_fd=top)
            for file in files:
                if earlier is None or not candidates.link(file, earlier, top):
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
        return _poured(source, target, file)

    def _clone(self, source: Readable, target: int) -> bool:
        """Share the blocks of a file; tell whether the file system can."""
        try:
            ioctl(target, _FICLONE, source.fileno())
        except OSError:
            self._clones = False
        return self._clones


def _lock(directory: str, at: int) -> None:
    """Make a directory that was made here read-only."""
    handle = os.open(directory, DIRECTORY, dir_fd=at)
    try:
        os.fchmod(handle, 0o555)
    finally:
        os.close(handle)


def _give_mode(target: int, mode: int) -> None:
    """Give a file its mode where the umask kept it from that: to look costs less than to set."""
    if S_IMODE(os.fstat(target).st_mode) != mode:
        os.fchmod(target, mode)


def hash_of(handle: int) -> str:
    """Return the SHA-256 of an open file, read from where it stands."""
    sha256 = hashlib.sha256()
    wanted = os.fstat(handle).st_size + 1
    while chunk := os.read(handle, min(wanted, CHUNK)):
        sha256.update(chunk)
    return sha256.hexdigest()


def directories_of(files: Iterable[PackageFile]) -> list[str]:
    """Return the directories that files lie in, each after the one that holds it."""
    found: dict[str, None] = {}
    for file in files:
        path = os_path(file.path)
        at = path.find("/")
        while at != -1:
            found[path[:at]] = None
            at = path.find("/", at + 1)
    return list(found)


def _poured(source: Readable, target: int, file: PackageFile) -> str:
    """Copy a file and return its hash."""
    sha256 = hashlib.sha256()
    left = file.size
    while left >= 0:
        wanted = min(left + 1, CHUNK)
        try:
            chunk = source.read(wanted)
        except OSError as error:
            raise NotAsJudged(f"{file.path} can no longer be read: {error}") from error
        if not chunk:
            break
        left -= len(chunk)
        sha256.update(chunk)
        written = os.write(target, chunk)
        while written < len(chunk):
            written += os.write(target, chunk[written:])
        if not left and len(chunk) < wanted:
            break  # a short read ends a regular file
    return sha256.hexdigest()
