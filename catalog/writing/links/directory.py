"""Links in one open directory; files, folders and links of others are never touched."""

import errno
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from stat import S_ISLNK
from typing import ClassVar

from catalog.filesystem.by_descriptor import directory
from catalog.filesystem.ownership import MARKER
from catalog.model.paths import os_path, text_path

NEXT = ".skilldrop-next"
"""New link, which replaces our older one atomically."""


@contextmanager
def foreign_directory(path: str, *, must_exist: bool) -> Iterator[int]:
    """Yield an open directory of somebody else; create it if only the last folder is missing.

    Raises OSError, also if the directory belongs to a catalog.
    """
    if not must_exist:
        with suppress(FileExistsError):
            os.mkdir(path, 0o755)
    with directory(path) as dir_fd:
        with suppress(FileNotFoundError):
            os.stat(MARKER, dir_fd=dir_fd, follow_symlinks=False)
            raise OSError(errno.EPERM, "it belongs to a catalog of skilldrop", path)
        yield dir_fd


@dataclass(frozen=True, slots=True)
class Links:
    """The links in an open directory; OSErrors name the entry."""

    dir_fd: int
    owns_links: bool  # every link in it was made by skilldrop
    own_files: ClassVar[Collection[str]] = (MARKER,)

    def target(self, name: str) -> str | None:
        """Return the target of a link, as text; None if there is no link of that name."""
        try:
            return text_path(os.readlink(name, dir_fd=self.dir_fd))
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            raise

    def put(self, name: str, target: str, ours: Collection[str]) -> bool:
        """Make a link, or replace our own in one step; return whether it exists then.

        Our links are those with one of the targets `ours`.
        """
        present = self.target(name)
        if present == target:
            return True
        if present is not None:
            return self._is_ours(present, ours) and self._replace(name, target)
        try:
            os.symlink(os_path(target), name, dir_fd=self.dir_fd)
        except FileExistsError:
            return False
        return True

    def remove(self, name: str, ours: Collection[str]) -> bool:
        """Remove our link; return whether there was one."""
        present = self.target(name)
        if present is None or not self._is_ours(present, ours):
            return False
        os.unlink(name, dir_fd=self.dir_fd)
        return True

    def sweep(self, kept: Collection[str]) -> list[str]:
        """Remove what a crash left, and, if all links are ours, those of no kept name.

        Return the names of the other entries that are not kept.
        """
        others = []
        for name in sorted(set(os.listdir(self.dir_fd)).difference(kept, self.own_files)):
            if self._is_link(name) and (self.owns_links or name == NEXT):
                os.unlink(name, dir_fd=self.dir_fd)
            else:
                others.append(name)
        return others

    def _is_ours(self, target: str, ours: Collection[str]) -> bool:
        return self.owns_links or target in ours

    def _replace(self, name: str, target: str) -> bool:
        if self._is_link(NEXT):
            os.unlink(NEXT, dir_fd=self.dir_fd)
        os.symlink(os_path(target), NEXT, dir_fd=self.dir_fd)
        os.replace(NEXT, name, src_dir_fd=self.dir_fd, dst_dir_fd=self.dir_fd)
        return True

    def exists(self, name: str) -> bool:
        """Return whether there is any entry of that name."""
        return self._mode(name) is not None

    def _is_link(self, name: str) -> bool:
        return S_ISLNK(self._mode(name) or 0)

    def _mode(self, name: str) -> int | None:
        try:
            return os.stat(name, dir_fd=self.dir_fd, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None
