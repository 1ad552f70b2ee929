"""A root held open: what lies below it is opened by descriptor, one name at a time, without links.

A path starts with a slash and is written as the system does; the root itself is "". A link below
the root is followed only by reading where it leads and going there from the root again, so that
nothing outside is opened, whatever is exchanged meanwhile.
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
from pipeline.roots.names import COMMON_SPELLINGS, is_skill_md

_ROOT = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_DIRECTORY = _ROOT | os.O_NOFOLLOW
_ENTERED = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC  # all that a directory without `r` allows
_FILE = (
    os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
)  # a pipe must not hang us, no terminal become ours

_NO_NAMES = frozenset({"", ".", ".."})
_LINK_MET = (errno.ELOOP, errno.ENOTDIR)

_MOST_OPEN = 64
"""Directories that are held open at once; a way that is longer is gone again from the root."""
_MOST_LINKS = 40
"""Links that are followed for one path, as many as Linux follows."""
_LONGEST = 4095
"""Bytes of a path; a longer one could be opened here, but by no reader of its package."""

EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""The errors that say nothing about a path: this process has run out of something."""
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
"""The errors of a device, a file system or a server that does not answer as it should."""


class RootDirectory:
    """A directory and what lies below it. For one thread; it is closed by `with`.

    The directories on the way to the one asked for last stay open, so a walk opens each once.
    """

    def __init__(self, path: str) -> None:
        """Open a directory, which may be reached through links. Raises OSError."""
        self.path = path
        self._tops: tuple[str, str] | None = None  # its path, as given and without links
        self._way = [("", _opened_root(path))]
        self._known = ("", "")  # a directory's path, and the same without links
        self._holds: dict[str, bool] = {}  # whether directories hold a SKILL.md

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
        while self._way:
            os.close(self._way.pop()[1])

    def is_in_place(self) -> bool:
        """Tell whether its path still leads to it; it may have been renamed, or a link switched."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._way[0][1]))
        except OSError:
            return False

    # Paths without links: OSError where there is one by now

    def directory(self, path: str) -> int:
        """Return the descriptor of a directory, which stays open until another is asked for."""
        way = self._way
        at, descriptor = way[-1]
        if path == at:
            return descriptor
        while not path.startswith(f"{at}/"):
            os.close(way.pop()[1])
            at, descriptor = way[-1]
            if path == at:
                return descriptor
        if len(path) * 4 > _LONGEST and len(os.fsencode(path)) > _LONGEST:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
        for name in path[len(at) + 1 :].split("/"):
            descriptor = _opened(name, descriptor)
            at = f"{at}/{name}"
            way.append((at, descriptor))
            if len(way) > _MOST_OPEN:
                os.close(way.pop(1)[1])
        return descriptor

    def names(self, path: str) -> list[str]:
        """Return the names in a directory."""
        try:
            return os.listdir(self.directory(path))
        except OSError as error:
            raise listing_error(error) from error

    def stat(self, path: str) -> os.stat_result:
        """Return the stat of whatever has a path; of a link its own."""
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
        """Return a path without the links on its way, which starts below a path without any.

        None where it leads out of the root; OSError where it leads to nothing.
        """
        at, todo, steps = below, path.split("/")[::-1], 0
        while todo:
            name = todo.pop()
            if name in ("", "."):
                continue
            if name == ".." and at:
                at = at.rpartition("/")[0]
                continue
            if name == "..":  # out of the root, and perhaps in again
                outside = os.path.dirname(self._own_paths()[1]).rstrip("/")
                target, todo = "/".join((outside, *reversed(todo))), []
            elif (link := self._link(at, name)) is not None:
                target = link
            else:
                at = f"{at}/{name}"
                continue
            steps += 1
            if steps > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            if target.startswith("/"):
                inside = self._inside(target)
                if inside is None:
                    return None
                at, target = "", inside
            todo += target.split("/")[::-1]
        return at

    def stat_behind_links(self, path: str) -> os.stat_result:
        """Return the stat of what a path leads to. Raises OSError."""
        parent, _, name = path.rpartition("/")
        try:
            found = os.stat(name, dir_fd=self._directory_known(parent), follow_symlinks=False)
            if not S_ISLNK(found.st_mode):
                return found
        except OSError as error:
            if error.errno not in _LINK_MET:
                raise
        return self.stat(self._behind_links(path))

    def file_behind_links(self, path: str) -> int:
        """Return the descriptor of the file a path leads to, which the caller closes; OSError."""
        parent, _, name = path.rpartition("/")
        try:
            return os.open(name, _FILE, dir_fd=self._directory_known(parent))
        except OSError as error:
            if error.errno not in _LINK_MET:
                raise
        return self.file(self._behind_links(path))

    def _directory_known(self, path: str) -> int:
        return self.directory(self._known[1] if path == self._known[0] else path)

    def may_read(self, path: str) -> bool:
        """Say whether the permissions of a file without links on its way allow to read it."""
        parent, _, name = path.rpartition("/")
        try:
            return os.access(name, os.R_OK, dir_fd=self.directory(parent), follow_symlinks=False)
        except OSError:
            return False

    def _behind_links(self, path: str) -> str:
        """Return the path without links; that of its directory is kept for the files beside it."""
        parent, _, name = path.rpartition("/")
        if self._known[0] != parent:
            self._known = (parent, self._inside_only(parent))
        return self._inside_only(name, self._known[1])

    def forget(self) -> None:
        """Look again where links lead, and which directories are skill folders, from now on."""
        self._known = ("", "")
        self._holds.clear()

    def _inside_only(self, path: str, below: str = "") -> str:
        found = self.real_path(path, below)
        if found is None:
            raise OSError(errno.ESTALE, "leads out of the root", path)
        return found

    def _link(self, directory: str, name: str) -> str | None:
        """Return what a link says; None where the name is that of no link."""
        at = self.directory(directory)
        if not S_ISLNK(os.stat(name, dir_fd=at, follow_symlinks=False).st_mode):
            return None
        return os.readlink(name, dir_fd=at)

    def _inside(self, target: str) -> str | None:
        """Return an absolute path as one below the root, if it leads there. Nothing is opened.

        What it is when it is opened from the root is another question.
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

    # What lies there

    def holds_skill_md(self, path: str) -> bool:
        """Say whether a directory holds SKILL.md in any spelling, at the price of listing it."""
        try:
            return any(map(is_skill_md, self.names(path)))
        except OSError:
            return False

    def holds_common_skill_md(self, path: str) -> bool:
        """Say whether it does in a common spelling, at the price of four stats.

        The answer is kept: it is asked again on the way to each folder in that directory.
        """
        if path not in self._holds:
            self._holds[path] = self._has_common_name(path)
        return self._holds[path]

    def _has_common_name(self, path: str) -> bool:
        try:
            at = self.directory(path)
        except OSError:
            return False
        for name in COMMON_SPELLINGS:
            try:
                os.stat(name, dir_fd=at, follow_symlinks=False)
            except OSError:
                continue
            return True
        return False

    def holds_file(self, path: str) -> bool:
        """Say whether a path leads to a regular file."""
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
    """Return the error for which a directory cannot be listed, if it was opened to be entered."""
    if error.errno != errno.EBADF:
        return error
    return PermissionError(errno.EACCES, os.strerror(errno.EACCES))


def unlisted(root: str, error: OSError) -> RootUnreadable:
    """Return the error of a root that cannot be listed."""
    return RootUnreadable(
        f"The root {text_path(root)} cannot be listed: {error.strerror or error}."
    )


def _opened_root(path: str) -> int:
    try:
        return os.open(path, _ROOT)
    except PermissionError:
        return os.open(path, _ENTERED)


def _opened(name: str, at: int) -> int:
    if name in _NO_NAMES:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    try:
        return os.open(name, _DIRECTORY, dir_fd=at)
    except PermissionError:
        return os.open(name, _ENTERED | os.O_NOFOLLOW, dir_fd=at)
