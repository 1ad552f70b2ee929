"""Package builder: packages from the folders of the roots, on all cores, in the packages folder."""

import logging
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISREG
from typing import Any, NamedTuple, TypeAlias

from catalog.filesystem.operations import DIRECTORY, descended, named, open_directory, remove
from catalog.filesystem.ownership import OwnedFolder, opened
from catalog.model.errors import NotAsJudged
from catalog.model.naming import CURRENT, is_version
from catalog.model.paths import archive_of
from catalog.writing.packages import staging
from catalog.writing.packages.staging import Original, PackageFile, files_in, hash_of

log = logging.getLogger("skilldrop")

NEXT_CURRENT = ".current"
"""New link, which replaces `current` atomically."""
DIRECTORY_MODE = 0o555
"""Mode of every directory of a package."""


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
            opened.append(os.open(entry, os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=parent))
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


Key: TypeAlias = tuple[str, str]
"""Root and path of a skill folder."""

PIECE = 16
"""Packages or copies that a process makes at a time, so that all end together."""


Source: TypeAlias = Callable[[str, str], Original]
"""Function from root and path to the files of a skill folder; raises NotAsJudged if it is missing.

It may reuse an open archive for the next folder.
"""

Sources: TypeAlias = Callable[[], AbstractContextManager[Source]]
"""Function that opens a source for one piece of work."""


class PackageJob(NamedTuple):
    """One package to make."""

    skill: int
    skill_id: str
    place: Key
    version: int
    package_path: str
    files: list[PackageFile]
    same: str | None  # package_path of the same files under another name


AtWork: TypeAlias = Callable[
    [Callable[[Any], list[bool]], Sequence[Any]], AbstractContextManager[Iterable[list[bool]]]
]
"""Function like `map`, whose work ends with its context. Other processes may do the work, so
the function and its arguments are picklable."""


def here(
    work: Callable[[Any], list[bool]], pieces: Sequence[Any]
) -> AbstractContextManager[Iterable[list[bool]]]:
    """Do the work lazily, in this process."""
    return nullcontext(map(work, pieces))


@dataclass(frozen=True, slots=True)
class Packaging:
    """Settings of publication: packages folder, source of files, and which skills to package."""

    folder: OwnedFolder  # may not exist yet
    sources: Sources
    in_place: bool = False  # only skills in archives have a package
    at_work: AtWork = here
    identity: str = ""  # of the catalog that owns the folder

    @contextmanager
    def opened(self) -> Iterator[Packages]:
        """Open the folder for writing; create and mark it if it is missing.

        Raises FolderNotOwned and OSError.
        """
        with opened(self.folder, self.identity) as dir_fd:
            yield Packages(self.folder.path, dir_fd)

    def packages(self, path: str) -> bool:
        """Return whether a skill at this path of a root is published as a package."""
        return not self.in_place or archive_of(path) is not None

    def make(self, jobs: Sequence[PackageJob]) -> list[bool]:
        """Make packages; return for each, in order, whether its files are as they were judged.

        Jobs of one archive should be adjacent, so that it is opened once. Raises OSError if a
        package cannot be written.
        """
        with self.at_work(self._make, list(_pieces(jobs))) as results:
            return list(chain.from_iterable(results))

    def _make(self, jobs: Iterable[PackageJob]) -> list[bool]:
        """Make packages; also runs in other processes."""
        with self.sources() as source, self.opened() as packages:
            return [_make_one(job, source, packages) for job in jobs]


def _make_one(job: PackageJob, source: Source, packages: Packages) -> bool:
    try:
        packages.stage(job.package_path, job.files, source(*job.place))
    except NotAsJudged:
        if job.same and packages.duplicate(job.same, job.package_path, job.files):
            return True
        packages.remove(job.package_path)
        return False
    return True


def group_of(job: PackageJob) -> Key:
    """Return the group of a job; one process should make the packages of a group."""
    root, path = job.place
    return (root, archive_of(path) or path)


def _pieces(jobs: Iterable[PackageJob]) -> Iterator[list[PackageJob]]:
    """Yield jobs in pieces of PIECE or more; a group stays in one piece."""
    piece: list[PackageJob] = []
    for _, group in groupby(jobs, key=group_of):
        piece += group
        if len(piece) >= PIECE:
            yield piece
            piece = []
    if piece:
        yield piece
