"""Publication of a batch: make packages, commit, switch `current`, in this order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from itertools import chain, islice

from sqlite_utils import Database

from catalog.database import sql
from catalog.filesystem.by_descriptor import directory, named
from catalog.filesystem.fsync import sync
from catalog.model.change import Change, ChangeResult, Judged, Removal
from catalog.model.errors import SkilldropError
from catalog.model.quota import Quota
from catalog.model.values import Trigger
from catalog.text.times import iso
from catalog.writing import package_jobs
from catalog.writing.packages.builder import Key, PackageJob, Packaging
from catalog.writing.retention.quota import Room
from catalog.writing.rows import batch as rows_batch
from catalog.writing.rows import publication, shadowing
from catalog.writing.rows import purge as rows_purge

BATCH = 1024
"""Skills published in one transaction at most."""
AHEAD = 8192
"""Packages that may be made, and their lists of files be held, before they are committed."""

_CHANGED = "its files cannot be read again as they were judged"


class Packager:
    """The one way from verdicts to what agents are given."""

    def __init__(self, db: Database, transaction: sql.Transaction) -> None:
        """Take the catalog, and how to begin and end a transaction in it."""
        self.packaging: Packaging | None = None  # nothing is published
        self.quota = Quota()
        self.room = Room(db)
        self._db = db
        self._transaction = transaction
        self._switches: dict[str, None] = {}  # package_paths: committed, not yet public
        self._gone: dict[str, None] = {}  # each skill_id that was public, and is no longer
        db.conn.create_function(
            "has_package", 1, lambda path: bool(self.packaging and self.packaging.packages(path))
        )

    def apply(
        self, changes: Sequence[Change], *, trigger: Trigger, at: datetime, scan: int | None = None
    ) -> list[ChangeResult]:
        """Take in a batch, publish what is active because of it, and tell what became of it.

        What cannot be published as it was judged is not taken in: it is "unsettled". Raises
        sqlite3.Error and OSError; the catalog is then as it was before.
        """
        if not changes:
            self.switch_current()
            return []
        waiting: set[Key] = set()
        again: list[Key] = []
        while True:
            wanted = [change for change in changes if waiting.isdisjoint(_keys(change))]
            try:
                with self._staged() as staged:
                    taken = rows_batch.write_batch(
                        self._db, wanted, trigger=trigger, at=at, scan=scan, quota=self.quota
                    )
                    again = self._publish(
                        taken.contested,
                        _judged(wanted),
                        at,
                        staged,
                        trigger=trigger,
                        meanwhile=taken.write_texts,
                    )
                    purged = rows_purge.purge(self._db.conn, taken.purged)
                break
            except _ChangedMeanwhile as changed:
                waiting.update(
                    *(_keys(change) for change in wanted if _keys(change)[0] in changed.places)
                )
        self.switch_current()
        self._take_back(purged)
        return [
            *taken.applied,
            *map(_unsettled, sorted(waiting)),
            *(_unsettled(key, _CHANGED) for key in again),
        ]

    def publish(
        self,
        touch: Callable[[], Iterable[str]],
        at: datetime,
        *,
        trigger: Trigger = "command",
        unshared: bool = False,
    ) -> list[Key]:
        """Do something to the catalog, and publish what is then active of each skill_id it returns.

        With `unshared` no file is shared with an earlier version, which may be damaged. Return the
        skills that have to be looked at again, because their folders have changed.
        """
        with self._staged() as staged:
            again = self._publish(
                set(touch()), frozenset(), at, staged, trigger=trigger, unshared=unshared
            )
        self.switch_current()
        return again

    def publish_all(self, skill_ids: Sequence[str], at: datetime) -> Iterator[int]:
        """Publish what is active of many skills, and yield how many so far.

        Packages are made ahead, while those before them are committed.
        """
        for start in range(0, len(skill_ids), AHEAD):
            end = min(start + AHEAD, len(skill_ids))
            batches = [
                skill_ids[first : min(first + BATCH, end)] for first in range(start, end, BATCH)
            ]
            for published in self._publish_ahead(batches, at):
                yield start + published

    def _publish_ahead(self, batches: Sequence[Sequence[str]], at: datetime) -> Iterator[int]:
        moment = iso(at)
        todo = deque(self._missing(batch) for batch in batches)
        published = 0
        try:
            with self._making(list(chain.from_iterable(todo))) as made:
                for batch in batches:
                    with self._staged() as staged:
                        staged += [job.package_path for job in todo[0]]
                        changed = self._note_made(islice(made, len(todo[0])), moment)
                        self._note_published(set(batch), moment)
                    todo.popleft()
                    self.switch_current()
                    if again := [job.skill_id for job in changed]:
                        self.publish(lambda again=again: again, at)  # type: ignore[misc]
                    published += len(batch)
                    yield published
        finally:
            self._take_back(job.package_path for job in chain.from_iterable(todo))

    def switch_current(self) -> None:
        """Let `current` lead to what is committed; what failed is made up for. Raises OSError."""
        if not self._switches or not self.packaging:
            return
        with self.packaging.folder.opened() as packages:
            for package_path in list(self._switches):
                packages.switch_current(package_path)
                del self._switches[package_path]

    def remove_stale_current(self) -> None:
        """Remove the `current` of what is active no longer; no index names it. Raises OSError."""
        if not self._gone or not self.packaging:
            return
        with self.packaging.folder.opened() as packages:
            for skill_id in list(self._gone):
                packages.remove_current(skill_id)
                del self._gone[skill_id]

    # One attempt

    @contextmanager
    def _staged(self) -> Iterator[list[str]]:
        """Make a transaction of what follows, with the packages that were made for it."""
        staged: list[str] = []
        switches, gone = dict(self._switches), dict(self._gone)
        try:
            with self._transaction():
                yield staged
                if staged and self.packaging:
                    path = self.packaging.folder.path
                    with named(path), directory(path) as at:
                        sync(at)
        except BaseException:
            self._switches, self._gone = switches, gone
            self._take_back(staged)
            self.room.recount()
            raise

    def _take_back(self, package_paths: Iterable[str]) -> None:
        """Remove packages that no version names; what resists, the next start sweeps."""
        todo = list(package_paths)
        if not todo or not self.packaging:
            return
        with suppress(OSError, SkilldropError), self.packaging.folder.opened() as packages:
            for package_path in todo:
                with suppress(OSError):
                    packages.remove(package_path)

    def _publish(
        self,
        contested: set[str],
        batch: frozenset[Key],
        at: datetime,
        staged: list[str],
        *,
        trigger: Trigger,
        unshared: bool = False,
        meanwhile: Callable[[], None] | None = None,
    ) -> list[Key]:
        """Publish what is active; what is to be done meanwhile takes the time packages take."""
        moment = iso(at)
        again: list[Key] = []
        while True:
            shadowing.decide(self._db, contested, moment, trigger)
            jobs = self._missing(contested, unshared=unshared)
            staged += [job.package_path for job in jobs]
            with self._making(jobs) as made:
                if meanwhile:
                    meanwhile()
                failed = {job.place: job.skill for job in self._note_made(made, moment)}
            if not failed:
                break
            if in_batch := failed.keys() & batch:
                raise _ChangedMeanwhile(in_batch)
            # It takes over from a winner that went, and changed without a word, or was locked.
            publication.set_waiting(self._db, failed.values(), _CHANGED, moment)
            again += failed
            meanwhile = None
        self._note_published(contested, moment)
        return again

    def _missing(self, skill_ids: Iterable[str], *, unshared: bool = False) -> list[PackageJob]:
        if not self.packaging:
            return []
        return package_jobs.missing(self._db, skill_ids, unshared=unshared)

    @contextmanager
    def _making(self, jobs: Sequence[PackageJob]) -> Iterator[Iterator[tuple[PackageJob, bool]]]:
        if not self.packaging:
            yield iter(())
            return
        if jobs:
            self.room.take(self.quota, self.packaging.folder.path, jobs)
        with self.packaging.making(jobs) as made:
            yield zip(jobs, made, strict=True)

    def _note_made(self, made: Iterable[tuple[PackageJob, bool]], moment: str) -> list[PackageJob]:
        """Write down which packages there are; return the jobs whose files have changed."""
        failed: list[PackageJob] = []
        there: list[tuple[str, str, int]] = []
        for job, is_made in made:
            if is_made:
                there.append((job.package_path, moment, job.version))
            else:
                failed.append(job)
        publication.note_packages(self._db, there)
        return failed

    def _note_published(self, contested: set[str], moment: str) -> None:
        """Write down what is public once this is committed, and what is so no longer."""
        public, gone = publication.note_published(self._db, contested, moment)
        self._switches |= dict.fromkeys(public)
        self._gone |= dict.fromkeys(gone)
        for package_path in public:
            self._gone.pop(package_path.partition("/")[0], None)


class _ChangedMeanwhile(Exception):
    """Folders of the batch are no longer as they were judged."""

    def __init__(self, places: set[Key]) -> None:
        super().__init__()
        self.places = places


def _keys(change: Change) -> tuple[Key, ...]:
    """Return where a change took place: of a rename, both its ends."""
    if isinstance(change, Removal):
        return ((change.root, change.path),)
    place = change.verdict.place
    return tuple(filter(None, ((place.root, place.path), change.moved_from)))


def _judged(changes: Iterable[Change]) -> frozenset[Key]:
    return frozenset(_keys(change)[0] for change in changes if isinstance(change, Judged))


def _unsettled(key: Key, why: str | None = None) -> ChangeResult:
    return ChangeResult(*key, key[1].rpartition("/")[2], "unsettled", why)
