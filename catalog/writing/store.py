"""Opens the catalog for its one writer, and writes all that is not a skill's content."""

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from sqlite_utils import Database

from catalog.database import migrations as database_migrations
from catalog.database import sql as database_sql
from catalog.database import stored_health
from catalog.database.connection import (
    REBUILT,
    connect,
    explained,
    is_damage,
    is_ours,
    leave_readable,
)
from catalog.database.lock import WriterLock, is_same_file, lock_of
from catalog.database.sql import columns, insert
from catalog.filesystem.ownership import (
    FolderKind,
    OwnedFolder,
    identity_of,
    new_identity,
    opened,
    refuse_others,
)
from catalog.model.change import Change, ChangeResult
from catalog.model.errors import CatalogDamaged
from catalog.model.finding import Finding
from catalog.model.outcome import BadOutcome, RunOutcome
from catalog.model.quota import Quota
from catalog.model.skill import Place, RootSpec
from catalog.model.trouble import Trouble
from catalog.model.values import REMOVAL_HELD, ChangeOutcome, Trigger
from catalog.prompt_index import history
from catalog.prompt_index.builder import IndexSpec, PromptIndex
from catalog.prompt_index.history import USUAL, IndexRetention
from catalog.text import humanize
from catalog.text.times import iso
from catalog.writing import adoption, damaged_copies, history_retention, pins, recovery
from catalog.writing import repair as writing_repair
from catalog.writing.history_retention import HistoryRetention
from catalog.writing.package_retention import PackageCollector, Retention
from catalog.writing.packager import Packager
from catalog.writing.packages.builder import Key, Packaging
from catalog.writing.packages.inspection import look
from catalog.writing.rows import rows, run_outcomes, search_rows, shadowing
from catalog.writing.rows.removals import NO_ROOT, Removals

log = logging.getLogger("skilldrop")


class StoredSkill(NamedTuple):
    """What a scan needs of a skill folder that the catalog has."""

    fingerprint: str
    digest: str | None  # of the content last looked at
    is_pending: bool
    is_held: bool = False  # gone, but not removed before somebody says so


class Store:
    """The catalog in the hands of its one writing process and thread."""

    def __init__(
        self, db: Database, lock: WriterLock | None = None, file: Path | None = None
    ) -> None:
        """Take over an open database, and the file it lies in; tests give one in memory."""
        self.db = db
        self._lock = lock
        self._file = (file, file.stat()) if file else None
        db.execute("PRAGMA foreign_keys = ON")
        database_migrations.migrations.apply(db)
        self.removals = Removals(db, self._transaction)
        self.packager = Packager(db, self._transaction)
        self._garbage = PackageCollector(db)
        self.owes_packages = False
        """Whether there was no room for all packages that were missing when it was opened."""
        self.was_lost = False
        """Whether a lost catalog had published packages, and no scan has told yet which remain."""

    @classmethod
    def open(cls, path: Path, at: datetime | None = None, *, damage: str | None = None) -> "Store":
        """Open or create the catalog file for writing.

        A damaged one is kept aside as of `at`, and replaced by a new one with its readable history;
        damage says how it was found out before. Raises CatalogBusy where another process writes
        it, CatalogUnusable where the file is not a catalog, CatalogDamaged where there is no
        `at`, and DiskFull.
        """
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = WriterLock(lock_of(path))
            try:
                return cls._opened(path, lock, at, damage)
            except BaseException:
                lock.close(lock.left)
                raise

    @classmethod
    def _opened(
        cls, path: Path, lock: WriterLock, at: datetime | None, damage: str | None
    ) -> "Store":
        is_empty = path.exists() and not path.stat().st_size
        try:
            if damage or (is_empty and lock.left):
                raise CatalogDamaged(damage or f"{path} is empty.")
            return cls._over(path, lock, is_doubted=lock.left != _note(path))
        except (CatalogDamaged, sqlite3.DatabaseError) as error:
            if not is_damage(error) or not (lock.left or is_ours(path)):
                raise
            if not at:
                raise
            why = str(error).removesuffix(REBUILT).rstrip(". ")  # it is being made
            return cls._recovered(path, lock, why, at)

    @classmethod
    def _recovered(cls, path: Path, lock: WriterLock, why: str, at: datetime) -> "Store":
        """Make a new catalog of a damaged one, which stays in its place until that is whole."""
        aside = recovery.aside_of(path, at)
        log.error(
            "the catalog is damaged (%s); it is kept as %s, and a new one is made from the roots",
            why,
            aside,
        )
        with TemporaryDirectory(dir=path.parent, prefix=".recovering-") as beside:
            new = Path(beside, path.name)
            made = Database(connect(new))
            try:
                cls(made)
                saved = recovery.recover(made, path, aside, why, at)
                leave_readable(made.conn, new)
            finally:
                made.conn.close()
            recovery.exchange(path, aside, new)
        damaged_copies.keep_newest(path, aside)
        store = cls._over(path, lock)
        log.warning(
            "recovered of the damaged catalog: %s",
            ", ".join(
                f"{humanize.count(count, 'row')} of {table}" for table, count in saved.items()
            ),
        )
        if not saved["versions"]:
            log.warning(
                "no version could be recovered, so a skill held by `rollback` is held no more"
            )
        return store

    @classmethod
    def _over(cls, path: Path, lock: WriterLock, *, is_doubted: bool = False) -> "Store":
        connection = connect(path, is_doubted=is_doubted)
        try:
            return cls(Database(connection), lock, path)
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        """Write the log back into the file and let the next writer in."""
        note = None
        if self._file and self._lock and self.is_in_place():
            with suppress(sqlite3.Error):  # a full or broken disk: the next start sees to it
                leave_readable(self.db.conn, self._file[0])
                note = _note(self._file[0])
        self.db.conn.close()
        if self._lock:
            self._lock.close(note)
            self._lock = None

    def checkpoint(self) -> None:
        """Copy what the log holds into the file, as far as nobody reads it there.

        SQLite does so by itself in the middle of a commit, once the log has grown long enough.
        """
        self.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def is_in_place(self) -> bool:
        """Tell whether others still find this catalog, and its lock, where they were opened."""
        return (not self._file or is_same_file(*self._file)) and (
            not self._lock or self._lock.is_in_place()
        )

    # Roots

    def set_roots(self, roots: Sequence[RootSpec], judged_by: str, at: datetime) -> None:
        """Note which roots are configured, in their order.

        Skills of a root whose rules changed lose their fingerprint, so that the next scan
        judges them again. The next scan holds those of a root that is no longer configured, and
        they are as before once it is configured again.
        """
        with self._transaction():
            known = {row["path"]: row for row in self.db.query("SELECT * FROM roots")}
            # What is held of a root that is configured no longer comes after what is configured.
            self.db.execute("UPDATE roots SET configured = 0, position = ?", [len(roots)])
            for position, root in enumerate(roots):
                rules = f"{judged_by} {root.level} {root.acceptance} {' '.join(root.profiles)}"
                self.db.execute(
                    _UPSERT_ROOT,
                    [
                        root.path,
                        root.level,
                        position,
                        root.acceptance,
                        database_sql.to_json(root.profiles),
                        rules,
                    ],
                )
                if root.path in known and known[root.path]["judged_by"] != rules:
                    self.db.execute(
                        "UPDATE skills SET fingerprint = '' WHERE root = ?", [root.path]
                    )
                if root.path in known and not known[root.path]["configured"]:
                    self.removals.release_root(root.path)
            self.db.execute(
                "DELETE FROM findings WHERE skill IS NULL AND root IN"
                " (SELECT path FROM roots WHERE configured = 0)"
            )
            shadowing.decide_all(self.db, iso(at))

    def unconfigured(self, *, with_held: bool = False) -> dict[str, list[str]]:
        """Return the paths of the skills whose root is no longer configured, by root.

        Those that are held for that are left out, unless they are asked for.
        """
        found: dict[str, list[str]] = {}
        # Roots first: there are few of them, and each has an index of its skills.
        for root, path in self.db.execute(
            "SELECT s.root, s.path FROM roots AS r CROSS JOIN skills AS s ON s.root = r.path"
            " WHERE r.configured = 0 AND s.status != 'removed'"
            " AND (? OR s.pending_reason IS NOT ?)",
            [with_held, f"{REMOVAL_HELD}: {NO_ROOT}"],
        ):
            found.setdefault(root, []).append(path)
        return found

    def set_root_trouble(self, root: str, trouble: str | None) -> None:
        """Note why a root cannot be read at present, or that it can."""
        if self.db.execute(
            "SELECT 1 FROM roots WHERE path = ? AND trouble IS NOT ?", [root, trouble]
        ).fetchone():  # to write nothing takes the lock, too
            self.db.execute("UPDATE roots SET trouble = ? WHERE path = ?", [trouble, root])

    # Skills

    def known(self, root: str, under: str = "") -> dict[str, StoredSkill]:
        """Return the skill folders of a root, at or below a path, that are not removed."""
        there, bounds = _at_or_below("path", under)
        found = self.db.execute(
            "SELECT path, fingerprint, seen_digest, pending_since IS NOT NULL, is_held"
            f" FROM skills WHERE root = ? AND status != 'removed' AND {there}",
            [root, *bounds],
        )
        return {
            path: StoredSkill(fingerprint, digest, bool(pending), bool(held))
            for path, fingerprint, digest, pending, held in found
        }

    def places_of(self, digest: str) -> list[tuple[str, str, bool]]:
        """Return root, path and whether it is held of the skills with this accepted content."""
        return self.db.execute(
            "SELECT root, path, is_held FROM skills WHERE digest = ?"
            " AND status != 'removed' ORDER BY id",
            [digest],
        ).fetchall()

    def forget(self, places: Sequence[tuple[str, str]]) -> None:
        """Doubt the stored state of some skills, so that they are taken in again."""
        with self._transaction():
            self.db.conn.executemany(
                "UPDATE skills SET fingerprint = '', digest = NULL WHERE root = ? AND path = ?",
                places,
            )

    def apply(
        self, changes: Sequence[Change], *, trigger: Trigger, at: datetime, scan: int | None = None
    ) -> list[ChangeResult]:
        """Take in a batch of verdicts and removals; see `Packager.apply`."""
        return self.packager.apply(changes, trigger=trigger, at=at, scan=scan)

    def set_pending(
        self, place: Place, name: str, skill_id: str, since: datetime, reason: str
    ) -> None:
        """Show a folder as waiting; one that was never accepted gets a row that says so."""
        with self._transaction():
            self.db.execute(
                _UPSERT_PENDING,
                {
                    "skill_id": skill_id,
                    "name": name,
                    "level": place.level,
                    "plugin": place.plugin,
                    "root": place.root,
                    "path": place.path,
                    "reason": reason,
                    "since": iso(since),
                },
            )

    def set_strays(self, root: str, under: str, strays: Iterable[tuple[str, Finding]]) -> None:
        """Replace the findings that speak of no skill, at or below a path of a root."""
        new = [rows.finding(None, root, folder, found) for folder, found in strays]
        there, bounds = _at_or_below("folder", under)
        there, place = f"skill IS NULL AND root = ? AND {there}", [root, *bounds]
        wanted = columns(rows.FINDING_COLUMNS)
        if (
            self.db.execute(
                f"SELECT {wanted} FROM findings WHERE {there} ORDER BY id", place
            ).fetchall()
            == new
        ):
            return
        with self._transaction():
            self.db.execute(f"DELETE FROM findings WHERE {there}", place)
            self.db.conn.executemany(insert("findings", rows.FINDING_COLUMNS), new)

    def clear_pending(self, root: str, paths: Sequence[str]) -> None:
        """Note that folders have settled, and that nothing in them has changed."""
        self.db.execute(
            "UPDATE skills SET pending_since = NULL, pending_reason = NULL, coalesced = 0"
            " WHERE root = ? AND path IN (SELECT value FROM json_each(?))",
            [root, database_sql.to_json(paths)],
        )

    # Runs of skills

    def known_outcomes(self) -> dict[str, str]:
        """Return the fingerprints of the outcome files that need no second look, by path."""
        return run_outcomes.known(self.db)

    def add_outcome(self, outcome: RunOutcome, at: datetime) -> int | None:
        """Take in what a run came to; return its revision, None where it is known already."""
        with self._transaction():
            return run_outcomes.take_in(self.db, outcome, at)

    def reject_outcome(self, bad: BadOutcome, quarantined_as: str | None, at: datetime) -> None:
        """Note why an outcome file was not taken in, and where it lies now."""
        with self._transaction():
            run_outcomes.reject(self.db, bad, quarantined_as, at)

    def quarantined_since(self, at: datetime, most: int) -> list[tuple[str, str]]:
        """Return where rejected outcome files were put from a moment on, and when, newest first."""
        return run_outcomes.quarantined_since(self.db, at, most)

    def forget_outcomes(self, paths: Sequence[str]) -> None:
        """Note that bad files which could not be moved away are gone."""
        run_outcomes.forget(self.db, paths)

    # Folders and packages

    def own(self, folders: Sequence[OwnedFolder]) -> None:
        """See to it that folders are this catalog's, or may be; raise FolderNotOwned otherwise."""
        if not self.identity:
            self.set_health(identity=identity_of(folders) or new_identity())
        refuse_others(folders, self.identity, self._knows)

    @property
    def identity(self) -> str:
        """What the folders of this catalog are marked with; empty while it has none."""
        return str(self.db.execute("SELECT ifnull(identity, '') FROM health").fetchone()[0])

    @contextmanager
    def owned(self, folder: OwnedFolder) -> Iterator[int]:
        """Give a folder of this catalog as an open directory; see `ownership.opened`."""
        if not self.identity:
            self.own([folder])
        with opened(folder, self.identity, self._knows) as at:
            yield at

    def _knows(self, kind: FolderKind, at: int) -> bool:
        return adoption.knows(self.db, kind, at)

    def publish_into(
        self, packaging: Packaging, at: datetime, quota: Quota | None = None
    ) -> Iterator[int]:
        """Publish from now on, and mend what is not as it should be; see `mending.mend`.

        Raises FolderNotOwned where the packages folder is not this catalog's.
        """
        self.own([packaging.folder.folder])
        folder = replace(packaging.folder, identity=self.identity)
        if folder.path.exists():
            with self.owned(folder.folder):  # one from before there were markers is given one
                pass
        self.packager.quota = quota or Quota()
        self.packager.packaging = replace(packaging, folder=folder)
        self.was_lost = (
            bool(look(folder.path).shelves)
            and not self.db.execute("SELECT 1 FROM versions LIMIT 1").fetchone()
        )
        self.set_health(packages_folder=str(folder.path))
        return self.mend_packages(at)

    def mend_packages(self, at: datetime) -> Iterator[int]:
        """Make the packages what the catalog says; see `mending.mend`."""
        yield from writing_repair.mend(self.db, self.packager, at)
        self.owes_packages = False

    def remove_lost_packages(self, at: datetime) -> Iterator[int]:
        """Remove the packages of a lost catalog, once a scan has told which skills there are."""
        if self.was_lost:
            yield from writing_repair.mend(self.db, self.packager, at, is_scanned=True)
            self.was_lost = False

    def verify_packages(self, clock: Callable[[], datetime]) -> Iterator[list[Key]]:
        """Hash the packages that were hashed longest ago; see `mending.verify`."""
        return writing_repair.verify(self.db, self.packager, clock)

    @property
    def packages_mended(self) -> int:
        """How many damaged packages there have been so far."""
        return int(self.db.execute("SELECT packages_mended FROM health").fetchone()[0])

    def check_packages(self, at: datetime, *, deep: bool = False) -> Iterator[list[Key]]:
        """Look whether the packages are whole, and mend them; see `mending.check`."""
        return writing_repair.check(self.db, self.packager, at, deep=deep)

    def repair_search(self) -> None:
        """Make the search hold what the accepted skills say; see `search_rows.repair`."""
        if wrong := search_rows.wrong_rows(self.db):
            with self._transaction():
                search_rows.repair(self.db, wrong)

    def collect(self, retention: Retention, at: datetime) -> int:
        """Remove the packages that need not be kept; see `Garbage.collect`."""
        packaging = self.packager.packaging
        self.packager.room.recount()
        return self._garbage.collect(packaging.folder, retention, at) if packaging else 0

    def thin(self, keep: HistoryRetention, at: datetime) -> int:
        """Remove rows of versions and ingestions of long ago; see `thinning.thin`."""
        return history_retention.thin(self.db, keep, at, self._transaction)

    def hold(self, skill: str, version: str, at: datetime) -> list[Key]:
        """Publish a skill as it was in a version, until it is released; see `pins.hold`."""
        return self.packager.publish(lambda: pins.hold(self.db, skill, version), at)

    def release(self, skill: str, at: datetime) -> list[Key]:
        """Publish what the folder of a skill that was held now holds; see `pins.release`."""
        return self.packager.publish(lambda: pins.release(self.db, skill), at)

    # Scans and health

    def begin_scan(self, trigger: Trigger, at: datetime) -> int:
        """Open a row for a full pass and return its id."""
        cursor = self.db.execute(
            'INSERT INTO scans ("trigger", started_at) VALUES (?, ?)', [trigger, iso(at)]
        )
        return int(cursor.lastrowid or 0)

    def finish_scan(
        self,
        scan: int,
        at: datetime,
        took_ms: float,
        seen: int,
        counts: Mapping[ChangeOutcome, int],
        missed_by_events: int,
    ) -> None:
        """Close the row of a full pass with what it found."""
        with self._transaction():
            values = {
                "took_ms": round(took_ms, 1),
                "seen": seen,
                "missed_by_events": missed_by_events,
            }
            self.db.table("scans").update(scan, values | dict(counts))
            self.db.execute(
                "UPDATE health SET last_full_scan = ?, missed_by_events = missed_by_events + ?",
                [iso(at), missed_by_events],
            )

    def drop_scan(self, scan: int) -> None:
        """Forget a full pass of which nothing else speaks."""
        self.db.execute("DELETE FROM scans WHERE id = ?", [scan])

    def set_health(self, **fields: Any) -> None:
        """Set columns of the one health row; times are datetimes."""
        values = {
            name: iso(value) if isinstance(value, datetime) else value
            for name, value in fields.items()
        }
        settings = ", ".join(f"{name} = :{name}" for name in values)
        self.db.execute(f"UPDATE health SET {settings}", values)

    def set_troubles(self, troubles: Sequence[Trouble]) -> None:
        """Note all the work that failed and is tried again."""
        with self._transaction():
            stored_health.replace(self.db, troubles)

    def count_overflow(self) -> None:
        """Note that the system's queue of events overflowed once more."""
        self.db.execute("UPDATE health SET overflows = overflows + 1")

    # Indexes

    def set_indexes(self, specs: Sequence[IndexSpec]) -> None:
        """Note which indexes are configured; see `index_history.configure`."""
        with self._transaction():
            history.configure(self.db, specs)

    def published_at(self, spec: IndexSpec, index: PromptIndex) -> str | None:
        """Return since when an index has said just this; None where it says something new."""
        return history.published_at(self.db, spec, index)

    def record_build(
        self, spec: IndexSpec, index: PromptIndex, at: datetime, keep: IndexRetention = USUAL
    ) -> None:
        """Keep what an index says from now on; see `index_history.record`."""
        with self._transaction():
            history.record(self.db, spec, index, at, keep)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Begin with the write lock: one taken after a read can fail at once, unretried."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.db.execute("COMMIT")
        except BaseException:
            self.db.rollback()
            raise


def _note(path: Path) -> str | None:
    """Return what the lock says of a catalog that was closed and has not been touched since."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return f"closed {stat.st_ino} {stat.st_size} {stat.st_mtime_ns}\n"


def _at_or_below(column: str, path: str) -> tuple[str, list[str]]:
    """Return a condition for paths at or below one, and its parameters; all are below ""."""
    if not path:
        return "true", []
    # The first two are what an index serves; "0" follows "/" in code points.
    return (
        f"{column} >= ? AND {column} < ? AND ({column} = ? OR {column} > ?)",
        [path, f"{path}0", path, f"{path}/"],
    )


_UPSERT_ROOT = """
    INSERT INTO roots (path, level, position, acceptance, profiles, judged_by)
    VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (path) DO UPDATE SET level = excluded.level, position = excluded.position,
        acceptance = excluded.acceptance, profiles = excluded.profiles,
        judged_by = excluded.judged_by, configured = 1
"""
_UPSERT_PENDING = """
    INSERT INTO skills (skill_id, name, level, plugin, root, path, status, status_reason,
                        pending_since, pending_reason, first_seen, last_changed)
    VALUES (:skill_id, :name, :level, :plugin, :root, :path, 'pending', :reason,
            :since, :reason, :since, :since)
    ON CONFLICT (root, path) DO UPDATE SET pending_since = excluded.pending_since,
        pending_reason = excluded.pending_reason,
        status = CASE status WHEN 'removed' THEN 'pending' ELSE status END,
        status_reason = CASE status WHEN 'removed' THEN excluded.status_reason
                                    ELSE status_reason END
"""
