"""Files of skill folders, opened once more to make packages of them."""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from catalog.model import paths as model_paths
from catalog.model.errors import NotAsJudged, RootUnreadable
from catalog.model.paths import archive_of
from catalog.writing.packages.staging import Original, Readable
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.local import files
from pipeline.roots.local.descent import Archive
from pipeline.roots.local.folder import Folder, Limits
from pipeline.roots.local.root_directory import RootDirectory
from pipeline.roots.local.walk import DEFAULT_LIMITS, archive_at


@contextmanager
def opened(limits: Limits = DEFAULT_LIMITS) -> Iterator["PackageSources"]:
    """Look at skill folders once more; what is read of archives can be until the context ends."""
    with ExitStack() as stack, ExitStack() as roots:
        yield PackageSources(limits, stack, roots)


class PackageSources:
    """Skill folders as they now are. The archive asked for last stays open for what follows."""

    def __init__(self, limits: Limits, stack: ExitStack, roots: ExitStack) -> None:
        """Take what is to be closed in the end: archives, and roots."""
        self._limits = limits
        self._stack = stack
        self._roots = roots
        self._open: dict[str, RootDirectory] = {}
        self._archive: Archive | None = None
        self._folders: dict[str, Folder] = {}  # of the archive, by path

    def files_of(self, root: str, path: str) -> Original:
        """Return the files of a skill folder. Raises NotAsJudged where there can be none."""
        try:
            if not archive_of(path):
                return FilesOfFolder(self._opened(root), path)
            folder = self._in_archive(root, path)
        except (OSError, RootUnreadable) as error:
            raise NotAsJudged(str(error)) from error
        if folder is None:
            raise NotAsJudged(f"{path} is no skill folder any more.")
        return FilesInArchive(folder)

    def _opened(self, path: str) -> RootDirectory:
        """Return a root held open, as long as its path leads to the same directory. OSError."""
        if path not in self._open or not self._open[path].is_in_place():
            self._open[path] = self._roots.enter_context(RootDirectory(path))
        return self._open[path]

    def _in_archive(self, root: str, path: str) -> Folder | None:
        archive = archive_at(self._opened(root), path, self._limits)
        if archive is None:
            return None
        if archive != self._archive:
            self._archive = None
            self._stack.close()
            self._folders = {
                folder.path: folder for folder in self._stack.enter_context(open_archive(archive))
            }
            self._archive = archive
        return self._folders.get(path)


class FilesOfFolder:
    """The files of a skill folder, wherever inside the root its paths lead by now.

    It is not listed again: hashes tell whether its files are those that were judged.
    """

    def __init__(self, root: RootDirectory, path: str) -> None:
        """Take the root and the folder's path in it."""
        self._root = root
        self._top = f"/{model_paths.os_path(path)}"

    def open(self, path: str) -> Readable:
        """Open a regular file inside the root. Raises OSError."""
        return _Opened(files.opened_inside(self._root, f"{self._top}/{model_paths.os_path(path)}"))


class FilesInArchive:
    """The files of a skill in an archive."""

    def __init__(self, folder: Folder) -> None:
        """Take the skill's folder as it was found in the archive, which is open."""
        self._folder = folder
        self._paths = frozenset(path for path, _ in folder.entries)

    def open(self, path: str) -> Readable:
        """Begin to unpack a file. Raises OSError where there is none."""
        if path not in self._paths or not self._folder.source:
            raise FileNotFoundError(errno.ENOENT, "is not there any more", path)
        return _Chunks(self._folder.source.chunks(f"{self._folder.path}/{path}"))


class _Opened:
    """A file of the disk, without what io.FileIO asks the system of each."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""
        return os.read(self._descriptor, size)

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def close(self) -> None:
        """Close it."""
        os.close(self._descriptor)


class _Chunks:
    """A file of an archive, as it is unpacked."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def read(self, _: int, /) -> bytes:
        """Return what was unpacked next, however much that is."""
        return next(self._chunks, b"")

    def fileno(self) -> int:
        """Raise OSError: there is no such file on the disk."""
        raise io.UnsupportedOperation("a file of an archive has no descriptor")

    def close(self) -> None:
        """Do nothing: the archive is closed as a whole."""
