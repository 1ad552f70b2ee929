"""Gives the files of a skill folder once more, so that a package can be made of them."""

import errno
import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from catalog.errors import NotAsJudged, RootUnreadable
from catalog.staging import Readable
from pipeline import disk, seen_file
from pipeline.disk import DEFAULT_LIMITS, Folder, Limits


@contextmanager
def opened(root: str, path: str, limits: Limits = DEFAULT_LIMITS) -> Iterator["FilesOfFolder"]:
    """Look at a skill folder once more, to read its files as they now are.

    Raises NotAsJudged where there is none.
    """
    with ExitStack() as stack:
        try:
            folder = disk.look(Path(root), path, limits)
            if folder is None:
                raise NotAsJudged(f"{path} is no skill folder any more.")
            now = stack.enter_context(disk.readable(os.path.abspath(root), folder, limits))
        except (OSError, RootUnreadable) as error:
            raise NotAsJudged(str(error)) from error
        yield FilesOfFolder(f"{os.path.abspath(root)}/{disk.os_path(path)}", now)


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
