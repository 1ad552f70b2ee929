"""Publication of a batch: make packages, commit, switch `current`, in this order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

from catalog.database.writer import Writer
from catalog.filesystem.by_descriptor import directory, named
from catalog.filesystem.fsync import sync
from catalog.model.change import Change, ChangeResult, Judged
from catalog.model.errors import SkilldropError
from catalog.model.naming import CURRENT
from catalog.model.setting import Retention
from catalog.model.values import Trigger
from catalog.text.humanize import iso
from catalog.writing import publication
from catalog.writing.packages.builder import Key, PackageJob, Packaging
from catalog.writing.retention import check_room
from catalog.writing.rows import batch as rows_batch
from catalog.writing.rows import shadowing

BATCH = 1024
"""Maximum number of skills published in one transaction."""

_CHANGED = "its files changed or became unreadable after they were checked"


class Packager:
    """The only path from verdicts to published packages."""

    def __init__(self, db: Writer) -> None:
        """Take the catalog."""
        self.packaging: Packaging | None = None  # None: nothing is published
        self.retention = Retention()
        self.named_after = ""
        """Newest version of a lost catalog; a folder of its name may have other content."""
        self.changed: set[str] = set()
        """Each skill_id whose published content may have changed; the user clears the set."""
        self._db = db
        # Changes that are committed but not yet published. A failed one is retried.
        self._public: dict[str, str] = {}  # package_paths that `current` is to lead to, by folder
        self._retired: dict[str, None] = {}  # each skill_id whose `current` is to be removed
        db.conn.create_function(
            "has_package", 1, lambda path: bool(self.packaging and self.packaging.packages(path))
        )

    def apply(
        self, changes: Sequence[Change], *, trigger: Trigger, at: datetime, scan: int | None = None
    ) -> list[ChangeResult]:
        """Store a batch, publish the skills it makes active, and return the result of each change.

        A change is "unsettled", and not stored, if its folder has changed since it was judged.
        Raises sqlite3.Error and OSError, and then leaves the catalog unchanged.
        """
        if not changes:
            self.switch_current()
            return []
        unsettled: set[Key] = set()
        while True:
            remaining = [change for change in changes if unsettled.isdisjoint(change.places)]
            try:
                with self._staged() as staged:
                    work = rows_batch.write_batch(
                        self._db,
                        remaining,
                        trigger=trigger,
                        at=at,
                        scan=scan,
                        retention=self.retention,
                        named_after=self.named_after,
                    )
                    judged = _judged(remaining)
                    changed = self._publish(
                        work.contested, judged, at, staged, trigger=trigger, scan=scan
                    )
                break
            except _ChangedMeanwhile as error:
                unsettled.update(
                    *(change.places for change in remaining if change.places[0] in error.places)
                )
        self.switch_current()
        return [
            *work.applied,
            *map(_unsettled, sorted(unsettled)),
            *(_unsettled(key, _CHANGED) for key in changed),
        ]

    def publish(
        self,
        touch: Callable[[], Iterable[str]],
        at: datetime,
        *,
        trigger: Trigger = "command",
    ) -> list[Key]:
        """Call `touch`, which changes the catalog, and publish the active skills it affects.

        `touch` returns each skill_id concerned. Return the skills to scan again: their folders
        have changed.
        """
        with self._staged() as staged:
            changed = self._publish(set(touch()), frozenset(), at, staged, trigger=trigger)
        self.switch_current()
        return changed

    def publish_all(self, skill_ids: Sequence[str], at: datetime) -> Iterator[int]:
        """Publish the active skills of many skill_ids, and yield the number so far."""
        for start in range(0, len(skill_ids), BATCH):
            batch = skill_ids[start : start + BATCH]
            self.publish(lambda batch=batch: batch, at, trigger="start")  # type: ignore[misc]
            yield start + len(batch)

    def switch_current(self) -> None:
        """Point each `current` to the committed version; repeat what failed. Raises OSError."""
        if not self._public or not self.packaging:
            return
        with self.packaging.folder.opened() as packages:
            for folder, package_path in list(self._public.items()):
                packages.switch_current(package_path)
                del self._public[folder]

    def withdraw(self) -> None:
        """Remove the `current` of inactive skills. Raises OSError.

        Call it after the indexes are published, so that none names them.
        """
        if not self._retired or not self.packaging:
            return
        with self.packaging.folder.opened() as packages:
            for skill_id in list(self._retired):
                packages.remove(f"{skill_id}/{CURRENT}")
                del self._retired[skill_id]

    # One transaction

    @contextmanager
    def _staged(self) -> Iterator[list[str]]:
        """Begin a transaction; if it fails, discard the packages listed in the yielded list."""
        staged: list[str] = []
        before = dict(self._public), dict(self._retired)
        try:
            with self._db.transaction():
                yield staged
                if staged and self.packaging:
                    path = self.packaging.folder.path
                    with named(path), directory(path) as dir_fd:
                        sync(dir_fd)
        except BaseException:
            self._public, self._retired = before
            self._discard(staged)
            raise

    def _discard(self, package_paths: Sequence[str]) -> None:
        """Remove packages that no version names; the next start removes any that remain."""
        if not package_paths or not self.packaging:
            return
        with suppress(OSError, SkilldropError), self.packaging.folder.opened() as packages:
            for package_path in package_paths:
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
        scan: int | None = None,
    ) -> list[Key]:
        """Decide which skills are active, make their packages, and note what is public now.

        Return the skills outside the batch whose folders have changed.
        """
        moment = iso(at)
        changed: list[Key] = []
        while True:
            shadowing.decide(self._db, contested, moment, trigger, scan)
            failed = {job.place: job.skill for job in self._make(contested, staged, moment)}
            if not failed:
                break
            if in_batch := failed.keys() & batch:
                raise _ChangedMeanwhile(in_batch)
            # Runner-ups outside the batch that changed without an event, or cannot be read.
            publication.set_waiting(self._db, failed.values(), _CHANGED, moment)
            changed += failed
        self._note_published(contested, moment)
        return changed

    def _make(self, skill_ids: Iterable[str], staged: list[str], moment: str) -> list[PackageJob]:
        """Make the missing packages and store their paths; return the jobs whose files changed."""
        if not self.packaging:
            return []
        jobs = publication.missing_packages(self._db, skill_ids)
        if not jobs:
            return []
        check_room(self._db, self.retention, self.packaging.folder.path, jobs)
        staged += [job.package_path for job in jobs]
        results = list(zip(jobs, self.packaging.make(jobs), strict=True))
        made = [(job.package_path, moment, job.version) for job, is_made in results if is_made]
        publication.note_packages(self._db, made)
        return [job for job, is_made in results if not is_made]

    def _note_published(self, contested: set[str], moment: str) -> None:
        """Store which packages are public; links and folders follow after the commit."""
        self.changed |= contested  # too many after a rollback, which does no harm
        published = publication.note_published(self._db, contested, moment)
        for skill_id in published.retired:
            self._public.pop(skill_id, None)
            self._retired[skill_id] = None
        for package_path in published.public:
            folder = package_path.partition("/")[0]
            self._retired.pop(folder, None)
            self._public[folder] = package_path


class _ChangedMeanwhile(Exception):
    """Folders of the batch have changed since they were judged."""

    def __init__(self, places: set[Key]) -> None:
        super().__init__()
        self.places = places


def _judged(changes: Iterable[Change]) -> frozenset[Key]:
    return frozenset(change.places[0] for change in changes if isinstance(change, Judged))


def _unsettled(key: Key, reason: str | None = None) -> ChangeResult:
    return ChangeResult(*key, key[1].rpartition("/")[2], "unsettled", reason)
