"""Gives the files of skill folders once more, so that packages can be made of them."""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from catalog.errors import NotAsJudged, RootUnreadable
from catalog.file_names import archive_of
from catalog.staging import Readable
from pipeline import disk, seen_file
from pipeline.disk import DEFAULT_LIMITS, Archive, Folder, Limits, archive_at, folders_in


@contextmanager
def opened(limits: Limits = DEFAULT_LIMITS) -> Iterator["Originals"]:
    """Look at skill folders once more; what is read of archives can be until the context ends."""
    with ExitStack() as stack:
        yield Originals(limits, stack)


class Originals:
    """Skill folders as they now are. The archive asked for last stays open for what follows."""

    def __init__(self, limits: Limits, stack: ExitStack) -> None:
        """Take what is to be closed in the end."""
        self._limits = limits
        self._stack = stack
        self._archive: Archive | None = None
        self._folders: dict[str, Folder] = {}  # of the archive, by path

    def files_of(self, root: str, path: str) -> "FilesOfFolder":
        """Return the files of a skill folder. Raises NotAsJudged where there is none."""
        try:
            folder = (self._in_archive(root, path) if archive_of(path) else
                      disk.look(Path(root), path, self._limits))
        except (OSError, RootUnreadable) as error:
            raise NotAsJudged(str(error)) from error
        if folder is None:
            raise NotAsJudged(f"{path} is no skill folder any more.")
        return FilesOfFolder(f"{os.path.abspath(root)}/{disk.os_path(path)}", folder)

    def _in_archive(self, root: str, path: str) -> Folder | None:
        archive = archive_at(Path(root), path, self._limits)
        if archive is None:
            return None
        if archive != self._archive:
            self._archive = None
            self._stack.close()
            self._folders = {folder.path: folder for folder in
                             self._stack.enter_context(folders_in(archive))}
            self._archive = archive
        return self._folders.get(path)


class FilesOfFolder:
    """The files of a skill folder that a look just found inside the root, or in an archive."""

    def __init__(self, top: str, folder: Folder) -> None:
        """Take the folder's absolute path, and what is in it."""
        self._top = top
        self._folder = folder
        self._stats = dict(folder.entries)

    def open(self, path: str) -> Readable:
        """Open the very inode that was seen. Raises OSError where the path leads elsewhere."""
        if path not in self._stats:
            raise FileNotFoundError(errno.ENOENT, "is not there any more", path)
        if self._folder.source:
            return _Chunks(self._folder.source.chunks(f"{self._folder.path}/{path}"))
        return io.FileIO(seen_file.opened(f"{self._top}/{disk.os_path(path)}", self._stats[path]))


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
