"""Opens the catalog for its one writer, and writes all that is not a skill's content."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from sqlite_utils import Database

from catalog import contest, garbage, index_history, mending, pins, rows, runs, schema
from catalog.connection import connect, explained
from catalog.garbage import Retention
from catalog.index_history import USUAL, Kept
from catalog.lock import WriterLock, is_same_file, lock_of
from catalog.making import Key, Packaging
from catalog.outcome import BadOutcome, RunOutcome
from catalog.packaging import Packager
from catalog.prompt_index import IndexSpec, PromptIndex
from catalog.record import Applied, Change, Finding, Outcome, Place, RootSpec, Trigger
from catalog.removals import HELD, Removals
from catalog.statements import columns, insert


class Known(NamedTuple):
    """What a scan needs of a skill folder that the catalog has."""

    fingerprint: str
    digest: str | None  # of the content last looked at
    is_pending: bool
    is_held: bool = False  # gone, but not removed before somebody says so


class Store:
    """The catalog in the hands of its one writing process and thread."""

    def __init__(self, db: Database, lock: WriterLock | None = None,
                 file: Path | None = None) -> None:
        """Take over an open database, and the file it lies in; tests give one in memory."""
        self.db = db
        self._lock = lock
        self._file = (file, file.stat()) if file else None
        db.execute("PRAGMA foreign_keys = ON")
        schema.migrations.apply(db)
        self.removals = Removals(db, self._transaction)
        self.packager = Packager(db, self._transaction)

    @classmethod
    def open(cls, path: Path) -> "Store":
        """Open or create the catalog file for writing.

        Raises CatalogBusy where another process writes it, CatalogUnusable where the file is
        not a catalog, and DiskFull.
        """
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = WriterLock(lock_of(path))
            try:
                return cls(Database(connect(path)), lock, path)
            except BaseException:
                lock.close()
                raise

    def close(self) -> None:
        """Write the log back into the file and let the next writer in."""
        self.db.conn.close()
        if self._lock:
            self._lock.close()
            self._lock = None

    def checkpoint(self) -> None:
        """Copy what the log holds into the file, as far as nobody reads it there.

        SQLite does so by itself in the middle of a commit, once the log has grown long enough.
        """
        self.db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()

    def is_in_place(self) -> bool:
        """Tell whether others still find this catalog, and its lock, where they were opened."""
        return (not self._file or is_same_file(*self._file)) and (
            not self._lock or self._lock.is_in_place())

    # Roots

    def set_roots(self, roots: Sequence[RootSpec], judged_by: str, at: datetime) -> None:
        """Note which roots are configured, in their order.

        Skills of a root whose rules changed lose their fingerprint, so that the next scan
        judges them anew; those of a root that is no longer configured are removed.
        """
        with self._transaction():
            known = {row["path"]: row for row in self.db.query("SELECT * FROM roots")}
            self.db.execute("UPDATE roots SET configured = 0")
            for position, root in enumerate(roots):
                rules = f"{judged_by} {root.level} {root.acceptance} {' '.join(root.profiles)}"
                self.db.execute(_UPSERT_ROOT, [root.path, root.level, position, root.acceptance,
                                               rows.to_json(root.profiles), rules])
                if root.path in known and known[root.path]["judged_by"] != rules:
                    self.db.execute("UPDATE skills SET fingerprint = '' WHERE root = ?",
                                    [root.path])
            self.db.execute("DELETE FROM findings WHERE skill IS NULL AND root IN"
                            " (SELECT path FROM roots WHERE configured = 0)")
            contest.decide_all(self.db, _iso(at))

    def forsaken(self) -> list[tuple[str, str]]:
        """Return (root, path) of the skills whose root is no longer configured."""
        return [(row["root"], row["path"]) for row in self.db.query(
            # Roots first: there are few of them, and each has an index of its skills.
            "SELECT s.root, s.path FROM roots AS r CROSS JOIN skills AS s ON s.root = r.path"
            " WHERE r.configured = 0 AND s.status != 'removed'")]

    def set_root_trouble(self, root: str, trouble: str | None) -> None:
        """Note why a root cannot be read at present, or that it can."""
        self.db.execute("UPDATE roots SET trouble = ? WHERE path = ? AND trouble IS NOT ?",
                        [trouble, root, trouble])

    # Skills

    def known(self, root: str, under: str = "") -> dict[str, Known]:
        """Return the skill folders of a root, at or below a path, that are not removed."""
        there, bounds = _at_or_below("path", under)
        found = self.db.execute(
            "SELECT path, fingerprint, seen_digest, pending_since IS NOT NULL, pending_reason IS ?"
            f" FROM skills WHERE root = ? AND status != 'removed' AND {there}",
            [HELD, root, *bounds],
        )
        return {path: Known(fingerprint, digest, bool(pending), bool(held))
                for path, fingerprint, digest, pending, held in found}

    def places_of(self, digest: str) -> list[tuple[str, str, bool]]:
        """Return root, path and whether it is held of the skills with this accepted content."""
        return self.db.execute(
            "SELECT root, path, pending_reason IS ? FROM skills WHERE digest = ?"
            " AND status != 'removed' ORDER BY id", [HELD, digest]).fetchall()

    def forget(self, places: Sequence[tuple[str, str]]) -> None:
        """Believe nothing that is stored of some skills, so that they are taken in anew."""
        with self._transaction():
            self.db.conn.executemany("UPDATE skills SET fingerprint = '', digest = NULL"
                                     " WHERE root = ? AND path = ?", places)

    def apply(self, changes: Sequence[Change], *, trigger: Trigger, at: datetime,
              scan: int | None = None) -> list[Applied]:
        """Take in a batch of verdicts and removals; see `Packager.apply`."""
        return self.packager.apply(changes, trigger=trigger, at=at, scan=scan)

    def set_pending(self, place: Place, name: str, skill_id: str, since: datetime,
                    reason: str) -> None:
        """Show a folder as waiting; one that was never accepted gets a row that says so."""
        with self._transaction():
            self.db.execute(_UPSERT_PENDING, {
                "skill_id": skill_id, "name": name,
                "level": place.level, "plugin": place.plugin, "root": place.root,
                "path": place.path, "reason": reason, "since": _iso(since),
            })

    def set_strays(self, root: str, under: str, strays: Iterable[tuple[str, Finding]]) -> None:
        """Replace the findings that speak of no skill, at or below a path of a root."""
        new = [rows.finding(None, root, folder, found) for folder, found in strays]
        there, bounds = _at_or_below("folder", under)
        there, place = f"skill IS NULL AND root = ? AND {there}", [root, *bounds]
        wanted = columns(rows.FINDING_COLUMNS)
        if self.db.execute(f"SELECT {wanted} FROM findings WHERE {there} ORDER BY id",
                           place).fetchall() == new:
            return
        with self._transaction():
            self.db.execute(f"DELETE FROM findings WHERE {there}", place)
            self.db.conn.executemany(insert("findings", rows.FINDING_COLUMNS), new)

    def clear_pending(self, root: str, paths: Sequence[str]) -> None:
        """Note that folders have settled, and that nothing in them has changed."""
        self.db.execute(
            "UPDATE skills SET pending_since = NULL, pending_reason = NULL"
            " WHERE root = ? AND path IN (SELECT value FROM json_each(?))",
            [root, rows.to_json(paths)])

    # Runs of skills

    def known_outcomes(self) -> dict[str, str]:
        """Return the fingerprints of the outcome files that need no second look, by path."""
        return runs.known(self.db)

    def add_outcome(self, outcome: RunOutcome, at: datetime) -> int | None:
        """Take in what a run came to; return its revision, None where it is known already."""
        with self._transaction():
            return runs.take_in(self.db, outcome, at)

    def reject_outcome(self, bad: BadOutcome, quarantined_as: str | None, at: datetime) -> None:
        """Note why an outcome file was not taken in, and where it lies now."""
        with self._transaction():
            runs.reject(self.db, bad, quarantined_as, at)

    def forget_outcomes(self, paths: Sequence[str]) -> None:
        """Note that bad files which could not be moved away are gone."""
        runs.forget(self.db, paths)

    def publish_into(self, packaging: Packaging, at: datetime) -> Iterator[int]:
        """Publish from now on, and mend what is not as it should be; see `mending.mend`."""
        self.packager.packaging = packaging
        self.set_health(packages_folder=str(packaging.folder.path))
        return self.mend_packages(at)

    def mend_packages(self, at: datetime) -> Iterator[int]:
        """Make the packages what the catalog says; see `mending.mend`."""
        return mending.mend(self.db, self.packager, at)

    def was_lost(self) -> bool:
        """Tell whether this is a new catalog in the place of one that had published packages."""
        packaging = self.packager.packaging
        return (packaging is not None and next(packaging.folder.shelves(), None) is not None
                and not self.db.execute("SELECT 1 FROM versions LIMIT 1").fetchone())

    def check_packages(self, at: datetime, *, deep: bool = False) -> Iterator[list[Key]]:
        """Look whether the packages are whole, and mend them; see `mending.check`."""
        return mending.check(self.db, self.packager, at, deep=deep)

    def collect(self, retention: Retention, at: datetime) -> int:
        """Remove the packages that need not be kept; see `garbage.collect`."""
        packaging = self.packager.packaging
        return garbage.collect(self.db, packaging.folder, retention, at) if packaging else 0

    def hold(self, skill: str, version: str, at: datetime) -> list[Key]:
        """Publish a skill as it was in a version, until it is released; see `pins.hold`."""
        return self.packager.publish(lambda: pins.hold(self.db, skill, version), at)

    def release(self, skill: str, at: datetime) -> list[Key]:
        """Publish what the folder of a skill that was held now holds; see `pins.release`."""
        return self.packager.publish(lambda: pins.release(self.db, skill), at)

    # Scans and health

    def begin_scan(self, trigger: Trigger, at: datetime) -> int:
        """Open a row for a full pass and return its id."""
        cursor = self.db.execute('INSERT INTO scans ("trigger", started_at) VALUES (?, ?)',
                                 [trigger, _iso(at)])
        return int(cursor.lastrowid or 0)

    def finish_scan(self, scan: int, at: datetime, took_ms: float, seen: int,
                    counts: Mapping[Outcome, int], missed_by_events: int) -> None:
        """Close the row of a full pass with what it found."""
        with self._transaction():
            values = {"took_ms": round(took_ms, 1), "seen": seen,
                      "missed_by_events": missed_by_events}
            self.db.table("scans").update(scan, values | dict(counts))
            self.db.execute(
                "UPDATE health SET last_full_scan = ?, missed_by_events = missed_by_events + ?",
                [_iso(at), missed_by_events],
            )

    def drop_scan(self, scan: int) -> None:
        """Forget a full pass of which nothing else speaks."""
        self.db.execute("DELETE FROM scans WHERE id = ?", [scan])

    def set_health(self, **fields: Any) -> None:
        """Set columns of the one health row; times are datetimes."""
        values = {name: _iso(value) if isinstance(value, datetime) else value
                  for name, value in fields.items()}
        settings = ", ".join(f"{name} = :{name}" for name in values)
        self.db.execute(f"UPDATE health SET {settings}", values)

    def count_overflow(self) -> None:
        """Note that the system's queue of events overflowed once more."""
        self.db.execute("UPDATE health SET overflows = overflows + 1")

    # Indexes

    def set_indexes(self, specs: Sequence[IndexSpec]) -> None:
        """Note which indexes are configured; see `index_history.configure`."""
        with self._transaction():
            index_history.configure(self.db, specs)

    def published_at(self, spec: IndexSpec, index: PromptIndex) -> str | None:
        """Return since when an index has said just this; None where it says something new."""
        return index_history.published_at(self.db, spec, index)

    def record_build(self, spec: IndexSpec, index: PromptIndex, at: datetime,
                     keep: Kept = USUAL) -> None:
        """Keep what an index says from now on; see `index_history.record`."""
        with self._transaction():
            index_history.record(self.db, spec, index, at, keep)

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


def _at_or_below(column: str, path: str) -> tuple[str, list[str]]:
    """Return a condition for paths at or below one, and its parameters; all are below ""."""
    if not path:
        return "true", []
    # The first two are what an index serves; "0" follows "/" in code points.
    return (f"{column} >= ? AND {column} < ? AND ({column} = ? OR {column} > ?)",
            [path, f"{path}0", path, f"{path}/"])


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")


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
