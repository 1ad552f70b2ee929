"""Open root directory, below which paths are opened name by name through descriptors.

Paths start with a slash and are paths of the system; the root itself is "". A link below the root
is followed by reading its target and opening that from the root again. So nothing outside the root
is opened, even if directories are exchanged meanwhile.
"""

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from itertools import islice
from operator import attrgetter
from stat import S_IFDIR, S_IFREG, S_ISDIR, S_ISLNK, S_ISREG
from typing import TypeVar

from catalog.filesystem.operations import FILE, OPENS_DIRECTORIES, flags
from catalog.model.errors import RootUnreadable
from catalog.model.finding import FindingType
from catalog.model.paths import text_path
from pipeline.roots.codes import LINK_DANGLING, LINK_LEAVES_ROOT, LINK_LOOP, SPECIAL_FILE
from pipeline.roots.file_kinds import COMMON_SPELLINGS
from pipeline.roots.ignore_files import NAMES as IGNORE_FILES
from pipeline.roots.local.directory import Listing, Target, Targets

_LISTED = flags("DIRECTORY")
_ENTERED = flags("PATH DIRECTORY")  # for a directory without the permission `r`

_T = TypeVar("_T")
_ON_A_LINK = frozenset({errno.ELOOP, errno.ENOTDIR})
"""Errors of a path that leads through a link, where none is followed."""
_NO_NAMES = frozenset({"", ".", ".."})

_NO_NAME = frozenset({errno.ENOENT, errno.ENAMETOOLONG})

_MOST_OPEN = 64
"""Directories held open at once, besides the root; the one opened first is closed first."""
_MOST_LINKS = 40
"""Links followed for one path, as many as Linux follows."""
_LONGEST = 4095
"""Bytes of a path; a longer one could be opened here, but not by readers of its package."""

EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})
"""Errors that do not depend on a path: the process has run out of a resource."""
IO_ERRORS = frozenset(
    getattr(errno, name, errno.EIO)  # not every system has all
    for name in (
        *("EIO", "EREMOTEIO", "EUCLEAN", "EBADMSG", "ETIMEDOUT", "ENOTCONN", "ECONNRESET"),
        *("EHOSTDOWN", "ENODEV", "ENOMEDIUM"),
    )
)
"""Errors of a faulty device, file system or file server."""
VANISHED = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
"""Errors of a path that has just vanished."""

identity: Callable[[os.stat_result], tuple[int, ...]] = attrgetter(
    "st_dev", "st_ino", "st_mode", "st_size", "st_mtime_ns", "st_ctime_ns"
)
"""Values of a stat that differ between two files, and after any change of a file."""


@contextmanager
def opened_root(path: str) -> Iterator["RootDirectory"]:
    """Yield an open root, by a path that may lead through links. Raises RootUnreadable."""
    path = os.path.abspath(path)
    try:
        root = RootDirectory(path) if OPENS_DIRECTORIES else RootByPaths(path)
    except OSError as error:
        raise unlisted(path, error) from error
    try:
        yield root
    finally:
        root.close()


def unlisted(root: str, error: OSError) -> RootUnreadable:
    """Return the error of a root that cannot be listed."""
    return RootUnreadable(
        f"The root {text_path(root)} cannot be listed: {error.strerror or error}."
    )


class RootDirectory:
    """Open directory and everything below it, for one thread.

    The last directories used stay open, so that a walk and the reads after it open each once.
    """

    def __init__(self, path: str) -> None:
        """Open a directory by an absolute path that may lead through links. Raises OSError."""
        self.path = path
        self._opened = {"": _open(path, None)}

    def close(self) -> None:
        """Close all descriptors."""
        while self._opened:
            os.close(self._opened.popitem()[1])

    def check(self) -> None:
        """Raise RootUnreadable if nothing can be listed at its path any more."""
        try:
            os.scandir(self.path).close()
        except OSError as error:
            raise unlisted(self.path, error) from error

    def is_in_place(self) -> bool:
        """Whether its path still leads to it; it may have been renamed, or a link changed."""
        try:
            return os.path.samestat(os.stat(self.path), self.stat(""))
        except OSError:
            return False

    # Paths without links; OSError if they contain one by now

    def directory(self, path: str) -> int:
        """Return the descriptor of a directory, which stays open until another one is needed."""
        opened = self._opened
        if (descriptor := opened.get(path)) is not None:
            return descriptor
        if len(path) * 4 > _LONGEST and len(os.fsencode(path)) > _LONGEST:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG), path)
        current = path.rpartition("/")[0]
        while current and current not in opened:
            current = current.rpartition("/")[0]
        descriptor = opened[current]
        for name in path[len(current) + 1 :].split("/"):
            descriptor = _open(name, descriptor)
            current = f"{current}/{name}"
            opened[current] = descriptor
            if len(opened) > _MOST_OPEN:
                _, oldest = islice(opened, 2)
                os.close(opened.pop(oldest))
        return descriptor

    def stat(self, path: str) -> os.stat_result:
        """Return the stat of a path; for a link, that of the link."""
        if not path:
            return os.stat(self._listed(path))
        name, dir_fd = self._at(path)
        return os.stat(name, dir_fd=dir_fd, follow_symlinks=False)

    def stats(self, path: str, inner: Iterable[str]) -> list[os.stat_result]:
        """Return the stats of paths in a directory, which start with a slash, or "" for itself.

        Nothing is opened, and they are compared with those of a walk: so links between the
        directory and a path may be followed.
        """
        name, above = self._at(path)
        return [os.lstat(name + each, dir_fd=above) for each in inner]

    def file(self, path: str, expected: os.stat_result | None = None) -> int:
        """Return the descriptor of a regular file, which the caller closes.

        With the stat of the file that a walk saw, only the same inode is opened, unchanged.
        """
        name, dir_fd = self._at(path)
        file = os.open(name, FILE, dir_fd=dir_fd)
        try:
            stat = self.stat(path) if dir_fd is None else os.fstat(file)
            if not S_ISREG(stat.st_mode):
                code = errno.ELOOP if S_ISLNK(stat.st_mode) else errno.ESTALE
                raise OSError(code, "is no longer a regular file", path)
            if expected and identity(stat) != identity(expected):
                raise OSError(errno.ESTALE, "changed since the walk", path)
        except OSError:
            os.close(file)
            raise
        return file

    def head(self, path: str, most: int) -> bytes:
        """Return the first bytes of a regular file, at most `most`."""
        with open(self.file(path), "rb") as file:
            return file.read(most)

    def listing(self, path: str, only: str | None = None) -> Listing:
        """List a directory; with `only`, just this name, SKILL.md and ignore files."""
        listing = Listing()
        if only is not None:
            for name in dict.fromkeys((only, *COMMON_SPELLINGS, *IGNORE_FILES)):
                try:
                    listing.add(name, self.stat(f"{path}/{name}").st_mode)
                except OSError as error:
                    if error.errno not in _NO_NAME:
                        raise
            return listing
        try:
            with os.scandir(self._listed(path)) as entries:
                for entry in entries:
                    listing.add(entry.name, _type(entry))
        except OSError as error:
            if error.errno == errno.EBADF:  # the directory was opened only to be entered
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES)) from error
            raise
        return listing

    def _at(self, path: str) -> tuple[str, int | None]:
        """Return the name of a path, and the directory in which the system looks for it."""
        parent, _, name = path.rpartition("/")
        return name, self.directory(parent)

    def _listed(self, path: str) -> int | str:
        """Return a directory as the system lists it, by its descriptor or by a path."""
        return self.directory(path)

    # Paths that may lead through links, to something below the root

    def followed(self, use: Callable[..., _T], path: str, *more: object) -> _T:
        """Return the result of `use` for a path, or for the one that its links lead to; OSError."""
        try:
            return use(path, *more)
        except OSError as error:
            if error.errno not in _ON_A_LINK:
                raise
            return use(self.resolved(path), *more)

    def resolved(self, path: str) -> str:
        """Return a path without its links; OSError if it leads to nothing or out of the root."""
        real = self.real_path(path)
        if real is None:
            raise OSError(errno.ESTALE, "leads out of the root", path)
        return real

    def targets(self, directory: str, names: Sequence[str]) -> Targets:
        """Return the targets of names in a directory, except those that have just vanished."""
        followed = {name: self._target(directory, name) for name in names}
        return {name: target for name, target in followed.items() if target is not None}

    def _target(self, directory: str, name: str) -> Target | FindingType | None:
        """Return the regular file or directory that a link below the root leads to.

        If it leads to none, return the type of the finding about it; None if it has just vanished.
        Raises OSError if the system does not reveal the target.
        """
        is_link = False
        try:
            is_link = S_ISLNK(self.stat(f"{directory}/{name}").st_mode)
            real = self.real_path(f"{directory}/{name}") if is_link else None
            stat = None if real is None else self.stat(real)
        except OSError as error:
            if error.errno in EXHAUSTED | IO_ERRORS:
                raise
            if not is_link:
                return None
            return LINK_LOOP if error.errno == errno.ELOOP else LINK_DANGLING
        if real is None or stat is None:
            return LINK_LEAVES_ROOT if is_link else SPECIAL_FILE
        is_followed = S_ISDIR(stat.st_mode) or S_ISREG(stat.st_mode)
        return Target(stat, real) if is_followed else SPECIAL_FILE

    def real_path(self, path: str) -> str | None:
        """Return a path with its links resolved; None if it leads out of the root.

        Raises OSError if it leads to nothing.
        """
        return without_links(path, _LONGEST, self._link, self._inside)

    def _link(self, directory: str, name: str) -> str | None:
        """Return the text of a link; None if the name is no link."""
        path = f"{directory}/{name}"
        if not S_ISLNK(self.stat(path).st_mode):
            return None
        name, dir_fd = self._at(path)
        return os.readlink(name, dir_fd=dir_fd).replace(os.sep, "/")

    def _inside(self, target: str) -> str | None:
        """Return an absolute path, or one from `..` on, as one below the root; None if outside.

        Nothing is opened; opening the path from the root may still fail.
        """
        if not target.startswith("/"):
            target = os.path.dirname(self._tops[1]).rstrip("/") + target.removeprefix("..")
        for top in self._tops:
            for path in (target, os.path.realpath(target)):
                if f"{path}/".startswith(f"{top.rstrip('/')}/"):
                    return path[len(top.rstrip("/")) :]
        return None

    @cached_property
    def _tops(self) -> tuple[str, str]:
        """Its path, as configured and without links."""
        return self.path, os.path.realpath(self.path)

    def has_skill_md(self, path: str) -> bool:
        """Whether a directory has SKILL.md in a common spelling, without listing it."""
        for name in COMMON_SPELLINGS:
            with suppress(OSError):
                self.stat(f"{path}/{name}")
                return True
        return False


class RootByPaths(RootDirectory):
    """The same where the system opens no directories, as Windows: for authors, not for a service.

    A directory that is exchanged for a link, just after it was looked at, is followed.
    """

    def __init__(self, path: str) -> None:
        os.scandir(path).close()
        self.path, self._opened = path, {}

    def _at(self, path: str) -> tuple[str, None]:
        above = self.path
        for name in path.split("/")[1:-1]:
            above = f"{above}/{name}"
            if name in _NO_NAMES or not S_ISDIR(os.lstat(above).st_mode):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        return f"{self.path}{path}", None

    def _listed(self, path: str) -> str:
        return self._at(f"{path}/")[0]


def without_links(
    path: str,
    most: int,
    link: Callable[[str, str], str | None],
    inside: Callable[[str], str | None],
) -> str | None:
    """Return a path of a tree without its links.

    `link` returns the text of the link at a directory and a name, None if there is no link, and
    `inside` a path that leads out of the tree as one from its top, None if it stays outside. The
    result is None then; OSError if the path leads to nothing or through more than `most` names.
    """
    resolved, remaining, links = "", path.split("/")[::-1], 0
    for _ in range(most):
        if not remaining:
            return resolved
        name = remaining.pop()
        if name in ("", "."):
            continue
        if name == ".." and resolved:
            resolved = resolved.rpartition("/")[0]
            continue
        if name == "..":  # out of the tree, and perhaps back into it
            target, remaining = "/".join(("..", *reversed(remaining))), []
        elif (text := link(resolved, name)) is not None:
            target = text
        else:
            resolved = f"{resolved}/{name}"
            continue
        if name == ".." or target.startswith("/"):
            if (below_top := inside(target)) is None:
                return None
            resolved, target = "", below_top
        links += 1
        remaining += target.split("/")[::-1]
        if links > _MOST_LINKS or len(remaining) > most:
            break
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)


def _open(name: str, parent: int | None) -> int:
    """Open a directory by its name in an open one, if it is no link; a root by its path."""
    no_link = 0 if parent is None else os.O_NOFOLLOW
    if name in _NO_NAMES:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    try:
        return os.open(name, _LISTED | no_link, dir_fd=parent)
    except PermissionError:
        return os.open(name, _ENTERED | no_link, dir_fd=parent)


def _type(entry: os.DirEntry[str]) -> int:
    """Return the type of an entry as in a stat; 0 if it is neither a file nor a directory."""
    try:
        if entry.is_file(follow_symlinks=False):
            return S_IFREG
        return S_IFDIR if entry.is_dir(follow_symlinks=False) else 0
    except OSError:
        return 0
