"""Package builder: packages from the folders of the roots, on all cores."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from itertools import chain, groupby
from typing import NamedTuple, TypeAlias

from catalog.filesystem.ownership import OwnedFolder, opened
from catalog.model.errors import NotAsJudged
from catalog.model.paths import archive_of
from catalog.writing.packages.folder import Packages
from catalog.writing.packages.staging import Original, PackageFile

Key: TypeAlias = tuple[str, str]
"""Root and path of a skill folder."""

PIECE = 128
"""Minimum number of packages per process: starting one costs as much as a few packages."""


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
    [Callable[[list[PackageJob]], list[bool]], Sequence[list[PackageJob]]],
    AbstractContextManager[Iterable[list[bool]]],
]
"""Function like `map`, whose work ends with its context. Other processes may do the work, so
the function and its arguments are picklable."""


def here(
    work: Callable[[list[PackageJob]], list[bool]], pieces: Sequence[list[PackageJob]]
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
    """Yield jobs in pieces large enough for a process; a group stays in one piece."""
    piece: list[PackageJob] = []
    for _, group in groupby(jobs, key=group_of):
        piece += group
        if len(piece) >= PIECE:
            yield piece
            piece = []
    if piece:
        yield piece
