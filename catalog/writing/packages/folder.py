"""The packages folder: how packages come into it, are made public, and go."""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISREG

from catalog.filesystem.by_descriptor import DIRECTORY, descended, named, open_directory, remove
from catalog.filesystem.ownership import OwnedFolder, opened
from catalog.model.naming import is_version
from catalog.writing.packages.staging import (
    HardLinkCandidates,
    Original,
    PackageFile,
    Stager,
    hash_of,
)

log = logging.getLogger("skilldrop")

CURRENT = "current"
BESIDE = ".current"
"""What becomes `current` in one step."""
_ANY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""How a file or a directory is opened that is no link."""


@dataclass(frozen=True, slots=True)
class PackageFolder:
    """All packages: `<skill_id>/<version>/`, and `<skill_id>/current`, a link to one of them."""

    path: Path  # it need not exist yet
    identity: str = ""  # of the catalog to which it belongs

    @property
    def folder(self) -> OwnedFolder:
        """The same, as a folder that has an owner."""
        return OwnedFolder(self.path, "packages")

    @contextmanager
    def opened(self) -> Iterator["Packages"]:
        """Give the folder to be written to; it is made and marked where there is none.

        Raises FolderNotOwned and OSError.
        """
        with opened(self.folder, self.identity) as at:
            yield Packages(self.path, at)


@dataclass(frozen=True, slots=True)
class Packages:
    """The packages folder while it is open; its OSErrors name what is concerned."""

    path: Path
    at: int

    def stage(
        self,
        package_path: str,
        files: Sequence[PackageFile],
        original: Original,
        candidates: HardLinkCandidates,
        stager: Stager,
    ) -> None:
        """Make a package in the place of what a crash left there; see `Stager.stage`."""
        skill_id, _, version = package_path.partition("/")
        with named(f"{self.path}/{package_path}"), ExitStack() as stack:
            shelf = stack.enter_context(self._made_shelf(skill_id))
            earlier = None
            if candidates.paths:
                with suppress(OSError):  # it is gone: all is copied
                    earlier = stack.enter_context(
                        descended(self.at, candidates.package_path.split("/"))
                    )
            stager.stage(version, shelf, files, original, candidates, earlier)

    def switch_current(self, package_path: str) -> None:
        """Let `current` lead to a package, in one step. Raises OSError."""
        skill_id, _, version = package_path.partition("/")
        with named(f"{self.path}/{skill_id}/{CURRENT}"), descended(self.at, [skill_id]) as shelf:
            try:
                os.symlink(version, CURRENT, dir_fd=shelf)
            except FileExistsError:
                target = target_of(CURRENT, shelf)
                if target == version:
                    return
                if target is None:  # no link can replace it
                    self._clear(skill_id, CURRENT, shelf)
                self._clear(skill_id, BESIDE, shelf)  # left by a crash
                os.symlink(version, BESIDE, dir_fd=shelf)
                os.replace(BESIDE, CURRENT, src_dir_fd=shelf, dst_dir_fd=shelf)

    def remove(self, package_path: str) -> None:
        """Remove a package, before it each `current` beside it that leads there. Raises OSError.

        The shelf goes with its last package.
        """
        skill_id, _, version = package_path.partition("/")
        with named(f"{self.path}/{package_path}"):
            self._remove(skill_id, version)

    def remove_current(self, skill_id: str) -> None:
        """Remove the `current` of a skill_id: nothing is published under it any more."""
        with named(f"{self.path}/{skill_id}/{CURRENT}"):
            self._remove(skill_id, CURRENT)

    def _remove(self, skill_id: str, name: str) -> None:
        with suppress(FileNotFoundError, NotADirectoryError):
            with descended(self.at, [skill_id]) as shelf:
                if target_of(CURRENT, shelf) == name:
                    os.unlink(CURRENT, dir_fd=shelf)
                if name in (CURRENT, BESIDE):
                    self._clear(skill_id, name, shelf)
                else:
                    remove(name, shelf)
            with suppress(OSError):  # not empty, or gone
                os.rmdir(skill_id, dir_fd=self.at)

    def _clear(self, skill_id: str, link: str, shelf: int) -> None:
        """Remove a link by name; put anything else of that name aside.

        A copy of a package is: a backup whose links were followed has one for `current`.
        """
        try:
            mode = os.stat(link, dir_fd=shelf, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return
        if S_ISLNK(mode) or _is_copy(link, shelf):
            remove(link, shelf)
            return
        log.warning(
            "%s/%s/%s was not made by skilldrop; it is %s now, and is left alone",
            self.path,
            skill_id,
            link,
            _put_aside(link, shelf),
        )

    @contextmanager
    def _made_shelf(self, skill_id: str) -> Iterator[int]:
        """Give the folder of a skill_id, made where there is none, for others to read."""
        with suppress(FileExistsError):
            os.mkdir(skill_id, 0o755, dir_fd=self.at)
        if (shelf := open_directory(skill_id, self.at)) is None:
            log.warning(
                "%s/%s was no directory; it is %s now, and packages are made in its place",
                self.path,
                skill_id,
                _put_aside(skill_id, self.at),
            )
            os.mkdir(skill_id, 0o755, dir_fd=self.at)
            shelf = os.open(skill_id, DIRECTORY, dir_fd=self.at)
        try:
            if S_IMODE(os.fstat(shelf).st_mode) != 0o755:  # who may enter is said further up
                os.fchmod(shelf, 0o755)
            yield shelf
        finally:
            os.close(shelf)


def _put_aside(name: str, at: int) -> str:
    """Put a foreign file aside; return its new name."""
    there = set(os.listdir(at))
    aside = next(
        free for number in range(1, len(there) + 2) if (free := f"{name}.~{number}~") not in there
    )
    os.rename(name, aside, src_dir_fd=at, dst_dir_fd=at)
    return aside


def _is_copy(name: str, shelf: int) -> bool:
    """Tell whether a directory holds just the files of a package that lies beside it."""
    return any(
        _is_same(name, shelf, version, shelf)
        for version in os.listdir(shelf)
        if is_version(version)
    )


def _is_same(name: str, at: int, other: str, beside: int) -> bool:
    """Tell whether two files, or all files of two directories, are equal; a link never is."""
    with ExitStack() as stack, suppress(OSError):
        opened = []
        for each, place in ((name, at), (other, beside)):
            opened.append(os.open(each, _ANY, dir_fd=place))
            stack.callback(os.close, opened[-1])
        stats = [os.fstat(each) for each in opened]
        if all(S_ISDIR(stat.st_mode) for stat in stats):
            names = os.listdir(opened[0])
            return sorted(names) == sorted(os.listdir(opened[1])) and all(
                _is_same(below, opened[0], below, opened[1]) for below in names
            )
        return (
            all(S_ISREG(stat.st_mode) for stat in stats)
            and stats[0].st_size == stats[1].st_size
            and hash_of(opened[0]) == hash_of(opened[1])
        )
    return False


def target_of(link: str, at: int) -> str | None:
    """Return where a link in an open directory leads; None where it is no link."""
    try:
        return os.readlink(link, dir_fd=at)
    except OSError:
        return None
