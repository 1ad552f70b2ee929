"""The packages folder: how packages come into it, are made public, and go."""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_IMODE

from catalog.by_descriptor import DIRECTORY, descended, named, open_directory, remove
from catalog.ownership import Folder, opened
from catalog.staging import Original, PackageFile, Stager, Twins

log = logging.getLogger("skilldrop")

CURRENT = "current"
BESIDE = ".current"
"""What becomes `current` in one step."""


@dataclass(frozen=True, slots=True)
class PackageFolder:
    """All packages: `<skill_id>/<version>/`, and `<skill_id>/current`, a link to one of them."""

    path: Path  # it need not exist yet
    identity: str = ""  # of the catalog to which it belongs

    @property
    def folder(self) -> Folder:
        """The same, as a folder that has an owner."""
        return Folder(self.path, "packages")

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

    def stage(self, package_path: str, files: Sequence[PackageFile], original: Original,
              twins: Twins, stager: Stager) -> None:
        """Make a package in the place of what a crash left there; see `Stager.stage`."""
        skill_id, _, version = package_path.partition("/")
        with named(f"{self.path}/{package_path}"), ExitStack() as stack:
            shelf = stack.enter_context(self._made_shelf(skill_id))
            earlier = None
            if twins.paths:
                with suppress(OSError):  # it is gone: all is copied
                    earlier = stack.enter_context(
                        descended(self.at, twins.package_path.split("/")))
            stager.stage(version, shelf, files, original, twins, earlier)

    def flip(self, package_path: str) -> None:
        """Let `current` lead to a package, in one step. Raises OSError."""
        skill_id, _, version = package_path.partition("/")
        with named(f"{self.path}/{skill_id}/{CURRENT}"), descended(self.at, [skill_id]) as shelf:
            try:
                os.symlink(version, CURRENT, dir_fd=shelf)
            except FileExistsError:
                target = target_of(CURRENT, shelf)
                if target == version:
                    return
                if target is None:  # a backup whose links were followed; no link can replace it
                    remove(CURRENT, shelf)
                remove(BESIDE, shelf)  # left by a crash
                os.symlink(version, BESIDE, dir_fd=shelf)
                os.replace(BESIDE, CURRENT, src_dir_fd=shelf, dst_dir_fd=shelf)

    def drop(self, package_path: str) -> None:
        """Remove a package, before it each `current` beside it that leads there. Raises OSError.

        The shelf goes with its last package.
        """
        skill_id, _, version = package_path.partition("/")
        with named(f"{self.path}/{package_path}"):
            self._drop(skill_id, version)

    def drop_current(self, skill_id: str) -> None:
        """Remove the `current` of a skill_id: nothing is published under it any more."""
        with named(f"{self.path}/{skill_id}/{CURRENT}"):
            self._drop(skill_id, CURRENT)

    def _drop(self, skill_id: str, name: str) -> None:
        with suppress(FileNotFoundError, NotADirectoryError):
            with descended(self.at, [skill_id]) as shelf:
                if target_of(CURRENT, shelf) == name:
                    os.unlink(CURRENT, dir_fd=shelf)
                remove(name, shelf)
            with suppress(OSError):  # not empty, or gone
                os.rmdir(skill_id, dir_fd=self.at)

    @contextmanager
    def _made_shelf(self, skill_id: str) -> Iterator[int]:
        """Give the folder of a skill_id, made where there is none, for others to read."""
        with suppress(FileExistsError):
            os.mkdir(skill_id, 0o755, dir_fd=self.at)
        if (shelf := open_directory(skill_id, self.at)) is None:
            self._put_aside(skill_id)
            os.mkdir(skill_id, 0o755, dir_fd=self.at)
            shelf = os.open(skill_id, DIRECTORY, dir_fd=self.at)
        try:
            if S_IMODE(os.fstat(shelf).st_mode) != 0o755:  # who may enter is said further up
                os.fchmod(shelf, 0o755)
            yield shelf
        finally:
            os.close(shelf)

    def _put_aside(self, skill_id: str) -> None:
        """Rename what is no directory and stands where packages are to be made."""
        there = set(os.listdir(self.at))
        aside = next(name for number in range(1, len(there) + 2)
                     if (name := f"{skill_id}.~{number}~") not in there)
        os.rename(skill_id, aside, src_dir_fd=self.at, dst_dir_fd=self.at)
        log.warning("%s/%s was no directory; it is %s now, and packages are made in its place",
                    self.path, skill_id, aside)


def target_of(link: str, at: int) -> str | None:
    """Return where a link in an open directory leads; None where it is no link."""
    try:
        return os.readlink(link, dir_fd=at)
    except OSError:
        return None
