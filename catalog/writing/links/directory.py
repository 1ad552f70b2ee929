"""Links to skills and copies of them in one open directory; entries of others are never touched.

A copy is a plain folder with the files of one version. An entry is staged beside its place under a
name that begins with a dot, and exchanged with the former one in one step.
"""

import errno
import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from stat import S_ISDIR
from typing import NamedTuple

from catalog.database.queries import Database
from catalog.filesystem.operations import (
    descended,
    directory,
    exchange_names,
    remove,
    sync,
    third_name,
)
from catalog.filesystem.ownership import MARKER
from catalog.model.errors import NotAsJudged
from catalog.model.naming import CURRENT, NAME_BYTES, is_skill_id, is_version, skill_id
from catalog.model.paths import os_path, text_path
from catalog.reading.files.published import SKILL_MD
from catalog.writing.links.table import LinkRow, is_package_path
from catalog.writing.packages import staging
from catalog.writing.packages.builder import PIECE, AtWork, here, is_same_tree
from catalog.writing.packages.inspection import Damage, damages, files_of_package
from catalog.writing.packages.staging import PackageFile, files_in

TOGETHER = 256
"""Entries that are staged, and written to disk, before they are exchanged."""


@dataclass(frozen=True, slots=True)
class Entries:
    """The links and copies in an open directory."""

    db: Database
    path: Path
    dir_fd: int
    packages: Path
    at_work: AtWork = here

    # Changes; OSErrors name the entry

    def put(self, rows: Sequence[LinkRow]) -> dict[str, bool | None]:
        """Make links and copies, replacing our entries; return by name whether each exists then.

        It is None where the version is damaged, so that its former copy stays.
        """
        results: dict[str, bool | None] = {}
        for start in range(0, len(rows), TOGETHER):
            batch = rows[start : start + TOGETHER]
            try:
                results |= dict.fromkeys((row.name for row in batch), False)
                results |= self._stage([row for row in batch if self.is_ours(row)])
                sync(self.dir_fd)
                for row in batch:
                    if results[row.name]:
                        results[row.name] = self._switch(row)
            finally:
                with suppress(OSError):  # the next sweep removes them
                    for name in filter(self.exists, [_staged(row.name) for row in batch]):
                        remove(name, self.dir_fd)
        return results

    def remove(self, row: LinkRow) -> bool:
        """Remove an entry of skilldrop in one step; return whether there was one."""
        if not self.exists(row.name) or not self.is_ours(row):
            return False
        remove(staged := _staged(row.name), self.dir_fd)
        self._rename(row.name, staged)
        remove(staged, self.dir_fd)
        return True

    def sweep(self, skills: Iterable[str]) -> list[str]:
        """Remove the entries that a crash left; return the names of all others."""
        left = self.left(skills)
        for name in left:
            remove(name, self.dir_fd)
        return sorted(self.names() - left)

    def _stage(self, rows: Iterable[LinkRow]) -> dict[str, bool | None]:
        """Make entries beside their places; return None for those whose version is damaged."""
        staged: dict[str, bool | None] = {}
        copies: list[_Copy] = []
        for row in rows:
            staged[row.name] = True
            if row.skill_md is not None:
                self._write(_staged(row.name), row.skill_md)
            elif row.is_copy:
                copies.append(_Copy(row.name, row.target, self._files(row)))
            else:
                remove(_staged(row.name), self.dir_fd)
                os.symlink(os_path(row.target), _staged(row.name), dir_fd=self.dir_fd)
        pieces = [copies[start : start + PIECE] for start in range(0, len(copies), PIECE)]
        place = self.path, os.fstat(self.dir_fd)
        with self.at_work(partial(_copy, *place, self.packages), pieces) as results:
            made = chain.from_iterable(results)
            return staged | {
                copy.name: is_made or None for copy, is_made in zip(copies, made, strict=True)
            }

    def _write(self, name: str, skill_md: str) -> None:
        """Make a read-only folder with one file."""
        remove(name, self.dir_fd)
        os.mkdir(name, 0o700, dir_fd=self.dir_fd)
        new = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with descended(self.dir_fd, [name]) as folder:
            with open(os.open(SKILL_MD, new, dir_fd=folder), "wb") as file:
                file.write(skill_md.encode())
                os.fchmod(file.fileno(), 0o444)
            os.fchmod(folder, 0o555)

    def _switch(self, row: LinkRow) -> bool:
        """Give a staged entry its name; a foreign entry that took the name just now stays."""
        staged = _staged(row.name)
        if not self.exists(row.name):
            self._rename(staged, row.name)
            return True
        if not self.is_ours(row):
            return False
        exchange_names(staged, row.name, self.dir_fd)
        if self.is_ours(row._replace(name=staged)):
            return True  # the caller removes the former entry
        exchange_names(staged, row.name, self.dir_fd)
        return False

    def _rename(self, old: str, new: str) -> None:
        os.rename(old, new, src_dir_fd=self.dir_fd, dst_dir_fd=self.dir_fd)

    # Questions

    def names(self) -> set[str]:
        """Return the names of all entries except the marker."""
        return set(os.listdir(self.dir_fd)) - {MARKER}

    def left(self, skills: Iterable[str]) -> set[str]:
        """Return the entries that a crash left while it placed skills of these names."""
        staged = set(map(_staged, skills))
        return self.names() & (staged | set(map(third_name, staged)))

    def fault(self, row: LinkRow) -> str | None:
        """Return how an entry differs from the one that should be there."""
        if not row.is_copy:
            is_right = self.target(row.name) == row.target
            return None if is_right else f"it does not lead to {row.target}"
        damage = self.damage(row)
        return f"it is not version {row.target.rpartition('/')[2]}: {damage}" if damage else None

    def damage(self, row: LinkRow, *, deep: bool = True) -> Damage | None:
        """Return a difference between a copy and its version; see `inspection.damages`."""
        return next(damages(self.path, row.name, self._files(row), deep=deep), None)

    def _files(self, row: LinkRow) -> Sequence[PackageFile]:
        """Return the files that a copy should have; a finder has one."""
        if row.skill_md is None:
            return files_of_package(self.db, row.target)
        text = row.skill_md.encode()
        return [PackageFile(SKILL_MD, len(text), hashlib.sha256(text).hexdigest(), 0o644)]

    def is_ours(self, row: LinkRow) -> bool:
        """Return whether a name has no entry, or one that a row claims.

        A claimed link has one of the targets. A claimed copy is a folder; one that may not have
        been made yet, since its name was free, has the files of its version.
        """
        mode = self._mode(row.name)
        if mode is None:
            return True
        if not S_ISDIR(mode):
            return self.target(row.name) in row.targets
        may_be_copy = any(map(is_package_path, row.targets))
        if row.is_new and row.skill_md is not None:
            return self.damage(row) is None
        return may_be_copy and (not row.is_new or self._is_copy(row.name, row.target))

    def recognised(self, name: str, *, with_copies: bool) -> str | None:
        """Return the target of an entry that a lost catalog made; None for an entry of others.

        Such a link leads to a published skill or, as in the layout before, to its package. Such a
        copy has exactly the files of a version among the packages.
        """
        target = self.target(name)
        if target is not None:
            place = Path(os.path.normpath(self.path / target))
            is_ours = place.parent == self.packages.with_name("skills") or (
                place.name == CURRENT and place.parent.parent == self.packages
            )
            return target if is_ours else None
        if not with_copies:
            return None
        own = name if is_skill_id(name) else skill_id(name, None, name)
        with suppress(FileNotFoundError):
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

    def _mode(self, name: str) -> int | None:
        try:
            return os.stat(name, dir_fd=self.dir_fd, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return None

    def _is_copy(self, name: str, package_path: str) -> bool:
        """Return whether a folder has exactly the files of a version."""
        with suppress(NotAsJudged), _version(self.packages, package_path) as version:
            return is_same_tree(name, self.dir_fd, ".", version)
        return False


class _Copy(NamedTuple):
    """One copy to make of a version."""

    name: str
    package_path: str
    files: Sequence[PackageFile]


def _copy(
    folder: Path, place: os.stat_result, packages: Path, copies: Iterable[_Copy]
) -> list[bool]:
    """Stage copies; return for each whether its version is undamaged. Other processes do so.

    Raises OSError also if the folder is no longer the one whose state is given.
    """
    made = []
    with directory(folder) as dir_fd:
        if not os.path.samestat(os.fstat(dir_fd), place):
            raise FileNotFoundError(errno.ENOENT, "it was replaced", str(folder))
        for copy in copies:
            try:
                with _version(packages, copy.package_path) as version:
                    staging.stage(_staged(copy.name), dir_fd, copy.files, files_in(version))
                made.append(True)
            except NotAsJudged:
                made.append(False)
    return made


@contextmanager
def _version(packages: Path, package_path: str) -> Iterator[int]:
    """Yield the open folder of a version. Raises NotAsJudged if it cannot be opened."""
    with ExitStack() as stack:
        try:
            top = stack.enter_context(directory(packages))
            version = stack.enter_context(descended(top, package_path.split("/")))
        except OSError as error:
            raise NotAsJudged(f"{package_path} cannot be read: {error}") from error
        yield version


def _staged(name: str) -> str:
    """Return the name under which an entry is staged, or a hash if that is too long."""
    staged = f".skilldrop-next-{name}"
    if len(os.fsencode(third_name(staged))) <= NAME_BYTES:
        return staged
    return f".skilldrop-next-{hashlib.sha256(os.fsencode(name)).hexdigest()}"
