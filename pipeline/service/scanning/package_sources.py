"""Sources of packages: files of skill folders and archives, opened again for copying."""

import errno
import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from catalog.model.errors import NotAsJudged, RootUnreadable
from catalog.model.paths import archive_of
from catalog.writing.packages.staging import Original, Readable
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.local.folder import Archive, Folder, Limits
from pipeline.roots.source import DEFAULT_LIMITS, Source, open_source


@contextmanager
def opened(limits: Limits = DEFAULT_LIMITS) -> Iterator["PackageSources"]:
    """Give access to skill folders; files of archives are readable until the context ends."""
    with ExitStack() as roots, ExitStack() as archive:
        yield PackageSources(limits, roots, archive)


class PackageSources:
    """Skill folders in their present state; the most recent archive stays open."""

    def __init__(self, limits: Limits, roots: ExitStack, archive: ExitStack) -> None:
        """Take the stacks that close the open roots and the open archive."""
        self._limits = limits
        self._roots = roots
        self._open: dict[str, Source] = {}
        self._close_archive = archive.close
        self._enter_archive = archive.enter_context
        self._archive: Archive | None = None
        self._folders: dict[str, Folder] = {}  # of the archive, by path

    def files_of(self, root: str, path: str) -> Original:
        """Return the files of a skill folder. Raises NotAsJudged if it cannot be read."""
        try:
            if root not in self._open or not self._open[root].is_in_place():
                self._open[root] = self._roots.enter_context(open_source(root, self._limits))
            if not archive_of(path):
                return FilesOfFolder(self._open[root], path)
            folder = self._in_archive(self._open[root], path)
        except (OSError, RootUnreadable) as error:
            raise NotAsJudged(str(error)) from error
        if folder is None:
            raise NotAsJudged(f"{path} is no longer a skill folder.")
        return FilesInArchive(folder)

    def _in_archive(self, source: Source, path: str) -> Folder | None:
        archive = source.archive(path)
        if archive is None:
            return None
        if archive != self._archive:
            self._archive = None
            self._close_archive()
            folders = self._enter_archive(open_archive(archive))
            self._folders = {folder.path: folder for folder in folders}
            self._archive = archive
        return self._folders.get(path)


class FilesOfFolder(NamedTuple):
    """The files of a skill folder.

    The folder is not listed again: hashes detect files other than the validated ones.
    """

    source: Source
    path: str

    def open(self, path: str) -> Readable:
        """Open a regular file inside the root. Raises OSError."""
        return io.FileIO(self.source.open_file(f"{self.path}/{path}"))


class FilesInArchive(NamedTuple):
    """The files of a skill in an open archive."""

    folder: Folder

    def open(self, path: str) -> Readable:
        """Start to unpack a file. Raises OSError if it does not exist."""
        folder = self.folder
        if not folder.content or not any(path == name for name, _ in folder.entries):
            raise FileNotFoundError(errno.ENOENT, "is not there any more", path)
        return _Chunks(folder.content.chunks(f"{folder.path}/{path}"))


class _Chunks(io.RawIOBase):
    """File of an archive, unpacked chunk by chunk; it has no descriptor."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def read(self, _: int = -1, /) -> bytes:
        """Return the next chunk, whatever its size."""
        return next(self._chunks, b"")
