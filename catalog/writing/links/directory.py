"""Links to skills and copies of them in one open directory; entries of others are never touched.

A copy is a plain folder with the files of one version. It is staged beside its place under a name
that begins with a dot, and exchanged with the former one in one step.
"""

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISDIR

from catalog.filesystem.by_descriptor import descended, directory, remove
from catalog.filesystem.exchange import exchanged
from catalog.filesystem.fsync import sync
from catalog.filesystem.ownership import MARKER, refuse_owned
from catalog.model.errors import NotAsJudged
from catalog.model.naming import CURRENT, NAME_BYTES, is_skill_id, is_version, skill_id
from catalog.model.paths import os_path, text_path
from catalog.writing.links.table import LinkRow
from catalog.writing.packages.folder import is_same_tree
from catalog.writing.packages.staging import Folder, PackageFile, Stager

NEXT = ".skilldrop-next"
"""Beginning of the name of a new entry; the name of its skill follows after a hyphen."""
LAST = ".skilldrop-last"
"""Former entry, on a file system that cannot exchange two names."""
TOGETHER = 256
"""Copies that are staged, and written to disk, before they are exchanged."""

FilesOf = Callable[[str], Sequence[PackageFile]]
"""Function that returns the files of the version with a package_path."""


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
class Entries:
    """The links and copies in an open directory; OSErrors name the entry."""

    dir_fd: int
    packages: Path
    stager: Stager = field(default_factory=Stager)

    def put_link(self, row: LinkRow) -> bool:
        """Make a link, or replace our entry in one step; return whether it exists then."""
        if self.target(row.name) == row.target:
            return True
        if not self.is_ours(row):
            return False
        if not self.exists(row.name):
            try:
                os.symlink(os_path(row.target), row.name, dir_fd=self.dir_fd)
            except FileExistsError:
                return False
            return True
        remove(staged := _staged(row.name), self.dir_fd)
        os.symlink(os_path(row.target), staged, dir_fd=self.dir_fd)
        is_put = self._switch(row, staged)
        remove(staged, self.dir_fd)
        return is_put

    def put_copies(self, rows: Sequence[LinkRow], files_of: FilesOf) -> dict[str, bool | None]:
        """Make copies, replacing our entries; return by name whether each exists then.

        It is None where the version is damaged, so that its former copy stays.
        """
        results: dict[str, bool | None] = {}
        for start in range(0, len(rows), TOGETHER):
            batch = rows[start : start + TOGETHER]
            try:
                for row in batch:
                    results[row.name] = self.is_ours(row) and self._stage(row, files_of)
                sync(self.dir_fd)
                for row in batch:
                    if results[row.name]:
                        results[row.name] = self._switch(row, _staged(row.name))
            finally:
                for row in batch:
                    with suppress(OSError):  # the next sweep removes it
                        remove(_staged(row.name), self.dir_fd)
        return results

    def remove(self, row: LinkRow) -> bool:
        """Remove our entry; return whether there was one. Readers find it whole or not at all."""
        if not self.exists(row.name) or not self.is_ours(row):
            return False
        remove(staged := _staged(row.name), self.dir_fd)
        os.rename(row.name, staged, src_dir_fd=self.dir_fd, dst_dir_fd=self.dir_fd)
        remove(staged, self.dir_fd)
        return True

    def names(self) -> set[str]:
        """Return the names of all entries but the marker."""
        return set(os.listdir(self.dir_fd)) - {MARKER}

    def left(self, skills: Iterable[str]) -> set[str]:
        """Return the entries that a crash left while it placed skills of these names."""
        staged = {_staged(name, prefix) for name in skills for prefix in (NEXT, LAST)}
        return self.names() & staged

    def sweep(self, skills: Iterable[str]) -> list[str]:
        """Remove the entries that a crash left; return the names of all others."""
        left = self.left(skills)
        for name in left:
            remove(name, self.dir_fd)
        return sorted(self.names() - left)

    def is_ours(self, row: LinkRow) -> bool:
        """Return whether a name has no entry, or one that a row claims.

        A claimed link has one of the targets. A claimed copy is a folder; one that may not have
        been made yet, since its name was free, has the files of its version.
        """
        if not self.exists(row.name) or self.target(row.name) in row.targets:
            return True
        if not row.may_be_folder or not self.is_folder(row.name):
            return False
        return not row.is_new or self._is_copy(row.name, row.target)

    def recognised(self, path: str, name: str, *, with_copies: bool) -> str | None:
        """Return the target of an entry that a lost catalog made; None for an entry of others.

        Such a link leads to a published skill or, as in the layout before, to its package. Such a
        copy has exactly the files of a version among the packages. `path` is that of the directory.
        """
        target = self.target(name)
        if target is not None:
            place = Path(os.path.normpath(os.path.join(path, target)))
            is_ours = place.parent == self.packages.with_name("skills") or (
                place.name == CURRENT and place.parent.parent == self.packages
            )
            return target if is_ours else None
        if not with_copies:
            return None
        own = name if is_skill_id(name) else skill_id(name, None, name)
        with suppress(OSError):
            for version in filter(is_version, os.listdir(self.packages / own)):
                if self._is_copy(name, f"{own}/{version}"):
                    return f"{own}/{version}"
        return None

    def target(self, name: str) -> str | None:
        """Return the target of a link, as text; None if there is no link of that name."""
        try:
            return text_path(os.readlink(name, dir_fd=self.dir_fd))
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            raise

    def exists(self, name: str) -> bool:
        """Return whether there is any entry of that name."""
        return self._mode(name) is not None

    def is_folder(self, name: str) -> bool:
        """Return whether there is a folder of that name."""
        return S_ISDIR(self._mode(name) or 0)

    def _stage(self, row: LinkRow, files_of: FilesOf) -> bool | None:
        """Copy a version beside the place of its skill; None if it is damaged."""
        try:
            with self._version(row.target) as version:
                self.stager.stage(
                    _staged(row.name),
                    self.dir_fd,
                    files_of(row.target),
                    Folder(version),
                )
        except NotAsJudged:
            return None
        return True

    @contextmanager
    def _version(self, package_path: str) -> Iterator[int]:
        """Yield the open folder of a version. Raises NotAsJudged if it cannot be opened."""
        with ExitStack() as stack:
            try:
                packages = stack.enter_context(directory(self.packages))
                version = stack.enter_context(descended(packages, package_path.split("/")))
            except OSError as error:
                raise NotAsJudged(f"{package_path} cannot be read: {error}") from error
            yield version

    def _switch(self, row: LinkRow, staged: str) -> bool:
        """Give a staged entry its name; a foreign entry that took the name just now stays."""
        if not self.exists(row.name):
            self._rename(staged, row.name)
            return True
        if not self.is_ours(row):
            return False
        if exchanged(staged, row.name, self.dir_fd):  # the caller removes the former entry
            if self.is_ours(row._replace(name=staged)):
                return True
            exchanged(staged, row.name, self.dir_fd)
        else:
            remove(last := _staged(row.name, LAST), self.dir_fd)
            self._rename(row.name, last)
            if self.is_ours(row._replace(name=last)):
                self._rename(staged, row.name)
                remove(last, self.dir_fd)
                return True
            self._rename(last, row.name)
        return False

    def _is_copy(self, name: str, package_path: str) -> bool:
        """Return whether a folder has exactly the files of a version."""
        own, _, version = package_path.partition("/")
        with (
            suppress(OSError),
            directory(self.packages) as packages,
            descended(packages, [own]) as versions,
        ):
            return is_same_tree(name, self.dir_fd, version, versions)
        return False

    def _rename(self, old: str, new: str) -> None:
        os.rename(old, new, src_dir_fd=self.dir_fd, dst_dir_fd=self.dir_fd)

    def _mode(self, name: str) -> int | None:
        try:
            return os.stat(name, dir_fd=self.dir_fd, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None


def _staged(name: str, prefix: str = NEXT) -> str:
    """Return the name under which an entry is staged, or a hash if that is too long."""
    staged = f"{prefix}-{name}"
    if len(os.fsencode(staged)) <= NAME_BYTES:
        return staged
    return f"{prefix}-{hashlib.sha256(os.fsencode(name)).hexdigest()}"
