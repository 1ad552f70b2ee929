"""Links in one open directory; files, folders and links of others are never touched."""

import errno
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISLNK
from typing import ClassVar

from catalog.filesystem.by_descriptor import directory
from catalog.filesystem.exchange import exchanged
from catalog.filesystem.ownership import MARKER, refuse_owned
from catalog.model.paths import os_path, text_path

NEXT = ".skilldrop-next"
"""New link, which replaces our older one atomically."""


@contextmanager
def foreign_directory(path: str, *, must_exist: bool) -> Iterator[int]:
    """Yield an open directory of somebody else; create it unless it must exist.

    Missing parents are created below the home only: elsewhere, a disk may not be mounted. Raises
    OSError, also if the directory belongs to a catalog.
    """
    if not must_exist:
        _create(Path(path))
    with directory(path) as dir_fd:
        refuse_owned(dir_fd, path)
        yield dir_fd


def _create(path: Path) -> None:
    home = Path(os.path.realpath(os.path.expanduser("~")))
    is_below_home = home in path.parents and home != Path("/")
    if not is_below_home and not path.parent.is_dir():
        raise OSError(errno.ENOENT, f"{path.parent} does not exist; make it first", str(path))
    with suppress(FileExistsError):
        path.mkdir(0o755, parents=is_below_home)


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

    def is_free(self, name: str, ours: Collection[str]) -> bool:
        """Return whether a name has no entry, or a link with one of the targets `ours`."""
        if not self.exists(name):
            return True
        present = self.target(name)
        return present is not None and self._is_ours(present, ours)

    def put(self, name: str, target: str, ours: Collection[str]) -> bool:
        """Make a link, or replace our own in one step; return whether it exists then.

        Our links are those with one of the targets `ours`.
        """
        present = self.target(name)
        if present == target:
            return True
        if present is not None:
            return self._is_ours(present, ours) and self._replace(name, target, ours)
        try:
            os.symlink(os_path(target), name, dir_fd=self.dir_fd)
        except FileExistsError:
            return False
        return True

    def remove(self, name: str, ours: Collection[str]) -> bool:
        """Remove our link; return whether there was one.

        A foreign entry that takes its name between the two calls to the system would be removed.
        """
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

    def _replace(self, name: str, target: str, ours: Collection[str]) -> bool:
        """Replace our link; a foreign entry that took its name just now is put back."""
        if self._is_link(NEXT):
            os.unlink(NEXT, dir_fd=self.dir_fd)
        os.symlink(os_path(target), NEXT, dir_fd=self.dir_fd)
        if not exchanged(NEXT, name, self.dir_fd):  # on this file system, such an entry is lost
            os.replace(NEXT, name, src_dir_fd=self.dir_fd, dst_dir_fd=self.dir_fd)
            return True
        former = self.target(NEXT)
        is_ours = former is not None and self._is_ours(former, ours)
        if not is_ours:
            exchanged(NEXT, name, self.dir_fd)
        os.unlink(NEXT, dir_fd=self.dir_fd)
        return is_ours

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
