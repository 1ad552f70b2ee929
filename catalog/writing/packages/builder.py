"""Package builder: packages from the folders of the roots, on all cores."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import chain, groupby
from typing import NamedTuple, Protocol, TypeAlias

from catalog.model.errors import NotAsJudged
from catalog.model.paths import archive_of
from catalog.writing.packages.folder import PackageFolder, Packages
from catalog.writing.packages.staging import HardLinkCandidates, Original, PackageFile, Stager

Key: TypeAlias = tuple[str, str]
"""Root and path of a skill folder."""

PIECE = 128
"""Packages that one process makes at least: to start it costs as much as a few."""


class Source(Protocol):
    """Where the files of skill folders come from; what it opens for one may serve the next."""

    def files_of(self, root: str, path: str, /) -> Original:
        """Return the files of a skill folder. Raises NotAsJudged where there is none."""


Sources: TypeAlias = Callable[[], AbstractContextManager[Source]]
"""Opens a source, for one piece of work."""


class PackageJob(NamedTuple):
    """A package to be made."""

    skill: int
    skill_id: str
    place: Key
    version: int
    package_path: str
    files: list[PackageFile]
    candidates: HardLinkCandidates


AtWork: TypeAlias = Callable[
    [Callable[[list[PackageJob]], list[bool]], Sequence[list[PackageJob]]],
    AbstractContextManager[Iterable[list[bool]]],
]
"""Gives what a function returns for each of some things, in their order, as `map` does; the work
ends with the context. Other processes may do it, so the function and the things are picklable."""


def here(
    work: Callable[[list[PackageJob]], list[bool]], pieces: Sequence[list[PackageJob]]
) -> AbstractContextManager[Iterable[list[bool]]]:
    """Work in this process, when a result is asked for."""
    return nullcontext(map(work, pieces))


@dataclass(frozen=True, slots=True)
class Packaging:
    """Where packages lie, where their files come from, and which skills have one."""

    folder: PackageFolder
    sources: Sources
    in_place: bool = False  # only skills in archives have a package
    at_work: AtWork = here

    def packages(self, path: str) -> bool:
        """Tell whether a skill at a path of a root is published as a package."""
        return not self.in_place or archive_of(path) is not None

    @contextmanager
    def making(self, jobs: Iterable[PackageJob]) -> Iterator[Iterator[bool]]:
        """Make packages; tell of each, in order, whether its files are still those judged.

        What lies in one archive had better follow each other, so that it is opened once. It is
        begun at once, and ends with the context. Raises OSError where one cannot be written.
        """
        maker = _Maker(self.folder, self.sources)
        with self.at_work(maker.make, list(_pieces(jobs))) as results:
            yield chain.from_iterable(results)


@dataclass(frozen=True, slots=True)
class _Maker:
    """What makes packages, in whatever process."""

    folder: PackageFolder
    sources: Sources
    stager: Stager = field(default_factory=Stager)

    def make(self, jobs: Iterable[PackageJob]) -> list[bool]:
        with self.sources() as source, self.folder.opened() as packages:
            return [self._make_one(job, source, packages) for job in jobs]

    def _make_one(self, job: PackageJob, source: Source, packages: Packages) -> bool:
        try:
            packages.stage(
                job.package_path,
                job.files,
                source.files_of(*job.place),
                job.candidates,
                self.stager,
            )
        except NotAsJudged:
            packages.remove(job.package_path)
            return False
        return True


def near(job: PackageJob) -> Key:
    """Return what jobs share that are done best together."""
    root, path = job.place
    return (root, archive_of(path) or path)


def _pieces(jobs: Iterable[PackageJob]) -> Iterator[list[PackageJob]]:
    """Yield jobs in pieces worth sharing out, what is near in one of them."""
    piece: list[PackageJob] = []
    for _, group in groupby(jobs, key=near):
        piece += group
        if len(piece) >= PIECE:
            yield piece
            piece = []
    if piece:
        yield piece
