"""Open root directory, below which paths are opened name by name through descriptors.

Paths start with a slash and are paths of the system; the root itself is "". A link below the root
is followed by reading its target and opening that from the root again. So nothing outside the root
is opened, even if directories are exchanged meanwhile.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from types import TracebackType
from typing import Self

from catalog.model.errors import RootUnreadable
from catalog.model.paths import text_path
from pipeline.roots.ignore_files import IgnoreFile
from pipeline.roots.names import COMMON_SPELLINGS, is_skill_md

_ROOT = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_DIRECTORY = _ROOT | os.O_NOFOLLOW
_ENTERED = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC  # for a directory without the permission `r`
_FILE = (
    os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
)  # a pipe must not block, a terminal must not become the controlling one

_NO_NAMES = frozenset({"", ".", ".."})
_LINK_MET = (errno.ELOOP, errno.ENOTDIR)

_MOST_OPEN = 64
"""Directories held open at once; those in the middle of a longer path are opened again."""
_MOST_LINKS = 40
"""Links followed for one path, as many as Linux follows."""
_LONGEST = 4095
"""Bytes of a path; a longer one could be opened here, but not by readers of its package."""

EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors that do not depend on a path: the process has run out of a resource."""
IO_ERRORS = frozenset(
    {
        errno.EIO,
        errno.EREMOTEIO,
        errno.EUCLEAN,
        errno.EBADMSG,
        errno.ETIMEDOUT,
        errno.ENOTCONN,
        errno.ECONNRESET,
        errno.EHOSTDOWN,
        errno.ENODEV,
        errno.ENOMEDIUM,
    }
)
"""Errors of a faulty device, file system or file server."""


class RootDirectory:
    """Open directory and everything below it, for one thread; `with` closes it.

    The directories on the way to the last one used stay open, so a walk opens each once.
    """

    def __init__(self, path: str) -> None:
        """Open a directory by a path that may lead through links. Raises OSError."""
        self.path = path
        self._tops: tuple[str, str] | None = None  # its path, as configured and without links
        self._opened = [("", _open_root(path))]
        self._known = ("", "")  # a directory's path, and the same without links
        self._holds: dict[str, bool] = {}  # whether directories hold a SKILL.md
        # Those in directories on the way of walks, by the paths of both kinds, cached.
        self.ignore_files: dict[tuple[str, str], tuple[IgnoreFile, ...]] = {}
        self.without_skill: dict[str, bool] = {}  # findings of walks about directories, cached

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close all descriptors."""
        while self._opened:
            os.close(self._opened.pop()[1])

    def is_in_place(self) -> bool:
        """Whether its path still leads to it; it may have been renamed, or a link changed."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._opened[0][1]))
        except OSError:
            return False

    # Paths without links; OSError if they contain one by now

    def directory(self, path: str) -> int:
        """Return the descriptor of a directory, which stays open until another one is needed."""
        opened = self._opened
        current, descriptor = opened[-1]
        if path == current:
            return descriptor
        while not path.startswith(f"{current}/"):
            os.close(opened.pop()[1])
            current, descriptor = opened[-1]
            if path == current:
                return descriptor
        if len(path) * 4 > _LONGEST and len(os.fsencode(path)) > _LONGEST:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
        for name in path[len(current) + 1 :].split("/"):
            descriptor = _open_directory(name, descriptor)
            current = f"{current}/{name}"
            opened.append((current, descriptor))
            if len(opened) > _MOST_OPEN:
                os.close(opened.pop(1)[1])
        return descriptor

    def names(self, path: str) -> list[str]:
        """Return the names in a directory."""
        try:
            return os.listdir(self.directory(path))
        except OSError as error:
            raise listing_error(error) from error

    def stat(self, path: str) -> os.stat_result:
        """Return the stat of a path; for a link, that of the link."""
        parent, slash, name = path.rpartition("/")
        if not slash:
            return os.fstat(self.directory(path))
        return os.stat(name, dir_fd=self.directory(parent), follow_symlinks=False)

    def file(self, path: str) -> int:
        """Return the descriptor of a file, or a special file, which the caller closes."""
        parent, _, name = path.rpartition("/")
        return os.open(name, _FILE, dir_fd=self.directory(parent))

    # Paths that may lead through links, to what lies below the root

    def real_path(self, path: str, below: str = "") -> str | None:
        """Return a path with its links resolved. It starts at `below`, which contains no link.

        None if it leads out of the root; OSError if it leads to nothing.
        """
        resolved, remaining, links = below, path.split("/")[::-1], 0
        while remaining:
            name = remaining.pop()
            if name in ("", "."):
                continue
            if name == ".." and resolved:
                resolved = resolved.rpartition("/")[0]
                continue
            if name == "..":  # out of the root, and perhaps back into it
                outside = os.path.dirname(self._own_paths()[1]).rstrip("/")
                target, remaining = "/".join((outside, *reversed(remaining))), []
            elif (link := self._link(resolved, name)) is not None:
                target = link
            else:
                resolved = f"{resolved}/{name}"
                continue
            links += 1
            if links > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            if target.startswith("/"):
                inside = self._inside(target)
                if inside is None:
                    return None
                resolved, target = "", inside
            remaining += target.split("/")[::-1]
        return resolved

    def stat_behind_links(self, path: str) -> os.stat_result:
        """Return the stat of the target of a path. Raises OSError."""
        parent, _, name = path.rpartition("/")
        try:
            stat = os.stat(name, dir_fd=self._directory_known(parent), follow_symlinks=False)
            if not S_ISLNK(stat.st_mode):
                return stat
        except OSError as error:
            if error.errno not in _LINK_MET:
                raise
        return self.stat(self._behind_links(path))

    def file_behind_links(self, path: str) -> int:
        """Return the descriptor of a path's target, which the caller closes; OSError."""
        parent, _, name = path.rpartition("/")
        try:
            return os.open(name, _FILE, dir_fd=self._directory_known(parent))
        except OSError as error:
            if error.errno not in _LINK_MET:
                raise
        return self.file(self._behind_links(path))

    def _directory_known(self, path: str) -> int:
        return self.directory(self._known[1] if path == self._known[0] else path)

    def _behind_links(self, path: str) -> str:
        """Return the path without links; the result for its directory is cached."""
        parent, _, name = path.rpartition("/")
        if self._known[0] != parent:
            self._known = (parent, self._inside_only(parent))
        return self._inside_only(name, self._known[1])

    def forget(self) -> None:
        """Clear the caches of link targets and of directories that hold a SKILL.md."""
        self._known = ("", "")
        self._holds.clear()
        self.ignore_files.clear()
        self.without_skill.clear()

    def _inside_only(self, path: str, below: str = "") -> str:
        real = self.real_path(path, below)
        if real is None:
            raise OSError(errno.ESTALE, "leads out of the root", path)
        return real

    def _link(self, directory: str, name: str) -> str | None:
        """Return the text of a link; None if the name is no link."""
        dir_fd = self.directory(directory)
        if not S_ISLNK(os.stat(name, dir_fd=dir_fd, follow_symlinks=False).st_mode):
            return None
        return os.readlink(name, dir_fd=dir_fd)

    def _inside(self, target: str) -> str | None:
        """Return an absolute path as one below the root; None if it lies outside.

        Nothing is opened; opening the path from the root may still fail.
        """
        for top in self._own_paths():
            for path in (target, os.path.realpath(target)):
                if f"{path}/".startswith(f"{top.rstrip('/')}/"):
                    return path[len(top.rstrip("/")) :]
        return None

    def _own_paths(self) -> tuple[str, str]:
        if self._tops is None:
            self._tops = (self.path, os.path.realpath(self.path))
        return self._tops

    # Contents of directories

    def holds_skill_md(self, path: str) -> bool:
        """Whether a directory holds SKILL.md in any spelling; this lists it."""
        try:
            return any(map(is_skill_md, self.names(path)))
        except OSError:
            return False

    def holds_common_skill_md(self, path: str) -> bool:
        """Whether a directory holds SKILL.md in a common spelling; this takes four stats.

        The answer is cached, as it is needed on the way to each folder in that directory.
        """
        if path not in self._holds:
            self._holds[path] = self._has_common_name(path)
        return self._holds[path]

    def _has_common_name(self, path: str) -> bool:
        try:
            dir_fd = self.directory(path)
        except OSError:
            return False
        for name in COMMON_SPELLINGS:
            try:
                os.stat(name, dir_fd=dir_fd, follow_symlinks=False)
            except OSError:
                continue
            return True
        return False

    def holds_file(self, path: str) -> bool:
        """Whether a path leads to a regular file."""
        try:
            return S_ISREG(self.stat_behind_links(path).st_mode)
        except OSError:
            return False


@contextmanager
def held_open(root: Path | RootDirectory) -> Iterator[RootDirectory]:
    """Open a root, unless it is open already. Raises RootUnreadable."""
    if isinstance(root, RootDirectory):
        yield root
        return
    path = os.path.abspath(root)
    try:
        opened = RootDirectory(path)
    except OSError as error:
        raise unlisted(path, error) from error
    with opened:
        yield opened


def listing_error(error: OSError) -> OSError:
    """Return EACCES for a directory that was opened only to be entered; else the error itself."""
    if error.errno != errno.EBADF:
        return error
    return PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def unlisted(root: str, error: OSError) -> RootUnreadable:
    """Return the error of a root that cannot be listed."""
    return RootUnreadable(
        f"The root {text_path(root)} cannot be listed: {error.strerror or error}."
    )


def _open_root(path: str) -> int:
    try:
        return os.open(path, _ROOT)
    except PermissionError:
        return os.open(path, _ENTERED)


def _open_directory(name: str, parent: int) -> int:
    if name in _NO_NAMES:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    try:
        return os.open(name, _DIRECTORY, dir_fd=parent)
    except PermissionError:
        return os.open(name, _ENTERED | os.O_NOFOLLOW, dir_fd=parent)
