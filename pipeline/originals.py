"""Gives the files of a skill folder once more, so that a package can be made of them."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path

from catalog.errors import NotAsJudged, RootUnreadable
from pipeline import disk, seen_file
from pipeline.disk import DEFAULT_LIMITS, Folder, Limits


@contextmanager
def opened(root: str, path: str, limits: Limits = DEFAULT_LIMITS) -> Iterator["FilesOfFolder"]:
    """Look at a skill folder once more, to read its files as they now are.

    Raises NotAsJudged where there is none.
    """
    try:
        folder = disk.look(Path(root), path, limits)
    except (OSError, RootUnreadable) as error:
        raise NotAsJudged(str(error)) from error
    if folder is None:
        raise NotAsJudged(f"{path} is no skill folder any more.")
    yield FilesOfFolder(f"{os.path.abspath(root)}/{disk.os_path(path)}", folder)


class FilesOfFolder:
    """The files of a skill folder that a look just found inside the root."""

    def __init__(self, top: str, folder: Folder) -> None:
        """Take the folder's absolute path, and what is in it."""
        self._top = top
        self._stats = dict(folder.entries)

    def open(self, path: str) -> FileIO:
        """Open the very inode that was seen. Raises OSError where the path leads elsewhere."""
        if path not in self._stats:
            raise FileNotFoundError(errno.ENOENT, "is not there any more", path)
        return FileIO(seen_file.opened(f"{self._top}/{disk.os_path(path)}", self._stats[path]))
