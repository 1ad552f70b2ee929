"""The packages folder: creation, publication and removal of packages."""

import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISREG

from catalog.filesystem.by_descriptor import DIRECTORY, descended, named, open_directory, remove
from catalog.model.errors import NotAsJudged
from catalog.model.naming import CURRENT, is_version
from catalog.writing.packages import staging
from catalog.writing.packages.staging import Original, PackageFile, files_in, hash_of

log = logging.getLogger("skilldrop")

NEXT_CURRENT = ".current"
"""New link, which replaces `current` atomically."""
DIRECTORY_MODE = 0o555
"""Mode of every directory of a package."""
_ANY = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Flags to open a file or a directory, but no link."""


@dataclass(frozen=True, slots=True)
class Packages:
    """The open folder of all packages, `<skill_id>/<version>/`, and links `<skill_id>/current`.

    Nothing in a version changes after it is published. OSErrors name the path concerned.
    """

    path: Path
    dir_fd: int

    def stage(self, package_path: str, files: Sequence[PackageFile], original: Original) -> None:
        """Make a package, replacing leftovers of a crash; see `staging.stage`."""
        skill_id, _, version = package_path.partition("/")
        with (
            named(f"{self.path}/{package_path}"),
            self._package_directory(skill_id) as directory,
        ):
            staging.stage(version, directory, files, original)

    def duplicate(self, present: str, package_path: str, files: Sequence[PackageFile]) -> bool:
        """Make a package from another one; return False if that is missing or damaged."""
        with suppress(FileNotFoundError, NotADirectoryError, NotAsJudged):
            with descended(self.dir_fd, present.split("/")) as folder:
                self.stage(package_path, files, files_in(folder))
            return True
        return False

    def switch_current(self, package_path: str) -> None:
        """Point `current` to a package, atomically. Raises OSError."""
        skill_id, _, version = package_path.partition("/")
        with (
            named(f"{self.path}/{skill_id}/{CURRENT}"),
            descended(self.dir_fd, [skill_id]) as directory,
        ):
            try:
                os.symlink(version, CURRENT, dir_fd=directory)
            except FileExistsError:
                present = target_of(CURRENT, directory)
                if present == version:
                    return
                if present is None:  # not a link, so no link can replace it
                    self._clear(skill_id, CURRENT, directory)
                self._clear(skill_id, NEXT_CURRENT, directory)  # left by a crash
                os.symlink(version, NEXT_CURRENT, dir_fd=directory)
                os.replace(NEXT_CURRENT, CURRENT, src_dir_fd=directory, dst_dir_fd=directory)

    def remove(self, path: str) -> None:
        """Remove a package, after any `current` that leads to it, or a `current`. Raises OSError.

        The directory of the skill_id is removed with its last package.
        """
        skill_id, _, name = path.partition("/")
        with named(f"{self.path}/{path}"), suppress(FileNotFoundError, NotADirectoryError):
            with descended(self.dir_fd, [skill_id]) as directory:
                if target_of(CURRENT, directory) == name:
                    os.unlink(CURRENT, dir_fd=directory)
                if not is_version(name):
                    self._clear(skill_id, name, directory)
                else:
                    remove(name, directory)
            with suppress(OSError):  # not empty, or already removed
                os.rmdir(skill_id, dir_fd=self.dir_fd)

    def _clear(self, skill_id: str, link: str, directory: int) -> None:
        """Remove a link by name; rename any other entry of that name.

        An exact copy of a package is removed, too: a backup that follows links has one as
        `current`.
        """
        try:
            mode = os.stat(link, dir_fd=directory, follow_symlinks=False).st_mode
        except FileNotFoundError:
            return
        if S_ISLNK(mode) or _is_copy(link, directory):
            remove(link, directory)
            return
        log.warning(
            "%s/%s/%s was not made by skilldrop; it was renamed to %s and left unchanged",
            self.path,
            skill_id,
            link,
            _put_aside(link, directory),
        )

    @contextmanager
    def _package_directory(self, skill_id: str) -> Iterator[int]:
        """Yield the open directory of a skill_id; create it if missing, readable by all."""
        with suppress(FileExistsError):
            os.mkdir(skill_id, 0o755, dir_fd=self.dir_fd)
        if (directory := open_directory(skill_id, self.dir_fd)) is None:
            log.warning(
                "%s/%s was not a directory; it was renamed to %s, and a directory replaces it",
                self.path,
                skill_id,
                _put_aside(skill_id, self.dir_fd),
            )
            os.mkdir(skill_id, 0o755, dir_fd=self.dir_fd)
            directory = os.open(skill_id, DIRECTORY, dir_fd=self.dir_fd)
        try:
            if S_IMODE(os.fstat(directory).st_mode) != 0o755:  # access is restricted further up
                os.fchmod(directory, 0o755)
            yield directory
        finally:
            os.close(directory)


def _put_aside(name: str, dir_fd: int) -> str:
    """Rename a foreign entry; return its new name."""
    names = set(os.listdir(dir_fd))
    aside = next(
        free for number in range(1, len(names) + 2) if (free := f"{name}.~{number}~") not in names
    )
    os.rename(name, aside, src_dir_fd=dir_fd, dst_dir_fd=dir_fd)
    return aside


def _is_copy(name: str, directory: int) -> bool:
    """Return whether a directory has exactly the files of a package beside it."""
    return any(
        is_same_tree(name, directory, version, directory)
        for version in os.listdir(directory)
        if is_version(version)
    )


def is_same_tree(name: str, dir_fd: int, other: str, other_fd: int) -> bool:
    """Return whether two files, or all files of two directories, are equal; links never are."""
    with ExitStack() as stack, suppress(OSError):
        opened = []
        for entry, parent in ((name, dir_fd), (other, other_fd)):
            opened.append(os.open(entry, _ANY, dir_fd=parent))
            stack.callback(os.close, opened[-1])
        stats = [os.fstat(handle) for handle in opened]
        if all(S_ISDIR(stat.st_mode) for stat in stats):
            names = os.listdir(opened[0])
            return sorted(names) == sorted(os.listdir(opened[1])) and all(
                is_same_tree(below, opened[0], below, opened[1]) for below in names
            )
        return (
            all(S_ISREG(stat.st_mode) for stat in stats)
            and stats[0].st_size == stats[1].st_size
            and hash_of(opened[0]) == hash_of(opened[1])
        )
    return False


def target_of(link: str, dir_fd: int) -> str | None:
    """Return the target of a link in an open directory; None if it is not a link."""
    try:
        return os.readlink(link, dir_fd=dir_fd)
    except OSError:
        return None
