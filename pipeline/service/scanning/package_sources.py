"""Sources of packages: files of skill folders and archives, opened again for copying."""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from catalog.model.errors import NotAsJudged, RootUnreadable
from catalog.model.paths import archive_of
from catalog.writing.packages.staging import Original, Readable
from pipeline.roots.local.folder import Folder, Limits
from pipeline.roots.local.tree_walk import Archive
from pipeline.roots.local.walk import DEFAULT_LIMITS
from pipeline.roots.source import Source, open_source


@contextmanager
def opened(limits: Limits = DEFAULT_LIMITS) -> Iterator["PackageSources"]:
    """Give access to skill folders; files of archives are readable until the context ends."""
    with ExitStack() as stack, ExitStack() as roots:
        yield PackageSources(limits, stack, roots)


class PackageSources:
    """Skill folders in their present state; the most recent archive stays open."""

    def __init__(self, limits: Limits, stack: ExitStack, roots: ExitStack) -> None:
        """Take the stacks that close the open archives and the open roots."""
        self._limits = limits
        self._stack = stack
        self._roots = roots
        self._open: dict[str, Source] = {}
        self._archive: Archive | None = None
        self._folders: dict[str, Folder] = {}  # of the archive, by path

    def files_of(self, root: str, path: str) -> Original:
        """Return the files of a skill folder. Raises NotAsJudged if it cannot be read."""
        try:
            if not archive_of(path):
                return FilesOfFolder(self._source(root), path)
            folder = self._in_archive(root, path)
        except (OSError, RootUnreadable) as error:
            raise NotAsJudged(str(error)) from error
        if folder is None:
            raise NotAsJudged(f"{path} is no longer a skill folder.")
        return FilesInArchive(folder)

    def _source(self, root: str) -> Source:
        """Return an open root; reopen it if its path now leads elsewhere."""
        if root not in self._open or not self._open[root].is_in_place():
            self._open[root] = self._roots.enter_context(open_source(root, self._limits))
        return self._open[root]

    def _in_archive(self, root: str, path: str) -> Folder | None:
        source = self._source(root)
        archive = source.archive(path)
        if archive is None:
            return None
        if archive != self._archive:
            self._archive = None
            self._stack.close()
            self._folders = {
                folder.path: folder
                for folder in self._stack.enter_context(source.open_archive(archive))
            }
            self._archive = archive
        return self._folders.get(path)


class FilesOfFolder:
    """The files of a skill folder.

    The folder is not listed again: hashes detect files other than the validated ones.
    """

    def __init__(self, source: Source, path: str) -> None:
        """Take the root and the path of the folder in it."""
        self._source = source
        self._path = path

    def open(self, path: str) -> Readable:
        """Open a regular file inside the root. Raises OSError."""
        return _Opened(self._source.open_file(f"{self._path}/{path}"))


class FilesInArchive:
    """The files of a skill in an archive."""

    def __init__(self, folder: Folder) -> None:
        """Take the folder of the skill in the open archive."""
        self._folder = folder
        self._paths = frozenset(path for path, _ in folder.entries)

    def open(self, path: str) -> Readable:
        """Start to unpack a file. Raises OSError if it does not exist."""
        if path not in self._paths or not self._folder.source:
            raise FileNotFoundError(errno.ENOENT, "is not there any more", path)
        return _Chunks(self._folder.source.chunks(f"{self._folder.path}/{path}"))


class _Opened:
    """Open file on disk, without the extra system calls of io.FileIO."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read(self, size: int, /) -> bytes:
        """Return the next bytes."""
        return os.read(self._descriptor, size)

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)


class _Chunks:
    """File of an archive, unpacked chunk by chunk."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def read(self, _: int, /) -> bytes:
        """Return the next chunk, whatever its size."""
        return next(self._chunks, b"")

    def fileno(self) -> int:
        """Raise OSError: the file is not on disk."""
        raise io.UnsupportedOperation("a file of an archive has no descriptor")

    def close(self) -> None:
        """Do nothing; the archive is closed as a whole."""
