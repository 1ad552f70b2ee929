"""Publication of a batch: make packages, commit, switch `current`, in this order."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

from catalog.database.expressions import IS_WITHHELD, NEWEST, STAYS_AT_VERSION
from catalog.database.queries import Database, Row, Writer, to_json
from catalog.filesystem.operations import sync_folder
from catalog.model.change import Change, ChangeResult, Judged
from catalog.model.errors import SkilldropError
from catalog.model.naming import CURRENT
from catalog.model.setting import Retention
from catalog.model.values import Trigger
from catalog.text.humanize import iso
from catalog.writing.packages.builder import Key, PackageJob, Packaging, group_of
from catalog.writing.packages.inspection import package_files
from catalog.writing.retention import check_room
from catalog.writing.rows import batch as rows_batch
from catalog.writing.rows import derived, shadowing

BATCH = 1024
"""Maximum number of skills published in one transaction."""

_CHANGED = "its files changed or became unreadable after they were checked"


class Packager:
    """The only path from verdicts to published packages."""

    def __init__(self, db: Writer) -> None:
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
                        named_after=self.named_after,
                    )
                    batch = frozenset(one.places[0] for one in remaining if isinstance(one, Judged))
                    changed = self._publish(
                        work.contested, batch, at, staged, trigger=trigger, scan=scan
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
        """Point each `current` to the committed version; retry failed ones. Raises OSError."""
        if not self._public or not self.packaging:
            return
        with self.packaging.opened() as packages:
            for folder, package_path in list(self._public.items()):
                packages.switch_current(package_path)
                del self._public[folder]

    def withdraw(self) -> None:
        """Remove the `current` of inactive skills. Raises OSError.

        Call it after the indexes are published, so that none names them.
        """
        if not self._retired or not self.packaging:
            return
        with self.packaging.opened() as packages:
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
                    sync_folder(self.packaging.folder.path)
        except BaseException:
            self._public, self._retired = before
            self._discard(staged)
            raise

    def _discard(self, package_paths: Sequence[str]) -> None:
        """Remove packages that no version names; the next start removes any that remain."""
        if not package_paths or not self.packaging:
            return
        with suppress(OSError, SkilldropError), self.packaging.opened() as packages:
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
        """Decide which skills are active, make their packages, and note the public ones.

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
            _set_waiting(self._db, failed.values(), _CHANGED, moment)
            changed += failed
        self._note_published(contested, moment)
        return changed

    def _make(self, skill_ids: Iterable[str], staged: list[str], moment: str) -> list[PackageJob]:
        """Make the missing packages and store their paths; return the jobs whose files changed."""
        if not self.packaging:
            return []
        rows = self._db.query(_WITHOUT_PACKAGE, [to_json(sorted(skill_ids))])
        jobs = sorted((_job(self._db, row) for row in rows), key=group_of)
        if not jobs:
            return []
        check_room(self._db, self.retention, self.packaging.folder.path, jobs)
        staged += [job.package_path for job in jobs]
        results = list(zip(jobs, self.packaging.make(jobs), strict=True))
        made = [(job.package_path, moment, job.version) for job, is_made in results if is_made]
        self._db.conn.executemany(_SET_PACKAGE, made)
        return [job for job, is_made in results if not is_made]

    def _note_published(self, contested: set[str], moment: str) -> None:
        """Store which packages are public; links and folders follow after the commit."""
        self.changed |= contested  # too many after a pin, which does no harm
        parameters = {"contested": to_json(sorted(contested)), "at": moment}
        for statement in (_SET_PACKAGES, _SET_RETIRED, _SET_UNRETIRED):
            self._db.execute(statement, parameters)
        for (skill_id,) in self._db.execute(_RETIRED, parameters).fetchall():
            self._public.pop(skill_id, None)
            self._retired[skill_id] = None
        for (package_path,) in self._db.execute(_CURRENT_PACKAGES, parameters).fetchall():
            folder = package_path.partition("/")[0]
            self._retired.pop(folder, None)
            self._public[folder] = package_path


class _ChangedMeanwhile(Exception):
    """Folders of the batch have changed since they were judged."""

    def __init__(self, places: set[Key]) -> None:
        super().__init__()
        self.places = places


def _unsettled(key: Key, reason: str | None = None) -> ChangeResult:
    return ChangeResult(*key, key[1].rpartition("/")[2], "unsettled", reason)


def _job(db: Database, row: Row) -> PackageJob:
    return PackageJob(
        row["id"],
        row["skill_id"],
        (row["root"], row["path"]),
        row["version_id"],
        f"{row['skill_id']}/{row['version']}",
        package_files(db, row["version_id"]),
        row["same"],
    )


def _set_waiting(db: Writer, skills: Iterable[int], reason: str, moment: str) -> None:
    """Mark skills as pending until the next scan; a held skill keeps its status."""
    for skill in skills:
        if not db.execute(_RESCAN_HELD, [skill]).rowcount:
            db.execute(_SET_WAITING, {"skill": skill, "reason": reason, "at": moment})
            derived.write(db, [skill])  # search finds no pending skill


_WITHOUT_PACKAGE = f"""
    SELECT s.id, s.root, s.path, v.id AS version_id, v.skill_id, v.version,
           (SELECT max(n.package_path) FROM versions AS n
            WHERE n.skill = s.id AND n.digest = v.digest) AS same
    FROM json_each(?) AS wanted
    JOIN skills AS s INDEXED BY skills_by_skill_id
        ON s.skill_id = wanted.value
    JOIN versions AS v ON v.id IN ({NEWEST}, s.current_version_id)
    WHERE v.package_path IS NULL AND has_package(s.path)
        AND (s.status = 'active' OR {IS_WITHHELD}
             OR s.status = 'pending' AND v.review = 'waits')
        AND (v.digest IS s.seen_digest OR NOT {STAYS_AT_VERSION})
"""
_SET_PACKAGE = """
    UPDATE versions SET package_path = ?, verified_at = ?, retired_at = NULL WHERE id = ?
"""
_RESCAN_HELD = f"""
    UPDATE skills AS s SET seen_digest = NULL, fingerprint = '' WHERE id = ? AND {STAYS_AT_VERSION}
"""
_SET_WAITING = """
    UPDATE skills SET status = 'pending', status_reason = :reason, pending_since = :at,
        pending_reason = :reason, held_cause = NULL, fingerprint = '',
        last_changed = max(last_changed, :at)
    WHERE id = :skill
"""
_CONTESTED = "skill_id IN (SELECT value FROM json_each(:contested))"
_SET_PACKAGES = f"""
    UPDATE skills SET package_path = new.package_path
    FROM (SELECT s.id, CASE WHEN s.status = 'active' AND has_package(s.path)
                            THEN v.package_path END AS package_path
          FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id
          WHERE s.{_CONTESTED}
              AND (s.package_path IS NOT NULL OR v.package_path IS NOT NULL)) AS new
    WHERE skills.id = new.id AND skills.package_path IS NOT new.package_path
"""
_SERVED = """
    (SELECT current_version_id FROM skills WHERE package_path IS NOT NULL AND skill_id IN
        (SELECT value FROM json_each(:contested)))
"""
_SET_RETIRED = f"""
    UPDATE versions SET retired_at = max(:at, ingested_at) WHERE {_CONTESTED}
        AND package_path IS NOT NULL AND +retired_at IS NULL AND id NOT IN {_SERVED}
"""  # The plus keeps SQLite off the index of retired_at: few versions are retired.
_SET_UNRETIRED = f"""
    UPDATE versions SET retired_at = NULL WHERE {_CONTESTED}
        AND retired_at IS NOT NULL AND id IN {_SERVED}
"""
_RETIRED = f"""
    SELECT DISTINCT skill_id FROM versions WHERE {_CONTESTED} AND package_path IS NOT NULL
        AND skill_id NOT IN
            (SELECT skill_id FROM skills WHERE {_CONTESTED} AND package_path IS NOT NULL)
"""
_CURRENT_PACKAGES = f"""
    SELECT package_path FROM skills WHERE {_CONTESTED} AND package_path IS NOT NULL
"""
