"""The catalog file and its writer lock, from opening to closing."""

import logging
import os
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from catalog.database import recovery
from catalog.database.connection import (
    REBUILT,
    connect,
    explained,
    is_damage,
    is_ours,
    is_unreleased,
    leave_readable,
    missing_migrations,
)
from catalog.database.lock import WriterLock, is_same_file, lock_of
from catalog.database.queries import Writer
from catalog.model.errors import CatalogDamaged
from catalog.writing import decision_file
from catalog.writing.takeover import Lost

log = logging.getLogger("skilldrop")


class CatalogFile:
    """An open catalog file, locked against other writers."""

    def __init__(
        self,
        path: Path,
        lock: WriterLock,
        db: Writer,
        *,
        lost: Lost | None = None,
    ) -> None:
        self.db = db
        self.lost = lost
        """The former catalog that was put aside just now."""
        self.path, self._stat = path, path.stat()
        self._lock: WriterLock | None = lock

    @classmethod
    def open(
        cls, path: Path, at: datetime | None = None, *, damage: str | None = None
    ) -> "CatalogFile":
        """Open or create the catalog file for writing.

        A damaged file is put aside, with the time `at` in its name, and counts as lost; `damage` is
        the reason if the damage is known already. Raises CatalogBusy if another process writes the
        catalog, CatalogUnusable if the file is not a catalog, CatalogDamaged if it is damaged and
        `at` is missing, and NotPossible if the disk is full.
        """
        with explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            lock = WriterLock(lock_of(path))
            try:
                return cls._open_locked(path, lock, at, damage)
            except BaseException:
                lock.close(lock.left)
                raise

    @classmethod
    def _open_locked(
        cls, path: Path, lock: WriterLock, at: datetime | None, damage: str | None
    ) -> "CatalogFile":
        if aside := _put_unreleased_aside(path, at):
            lost = Lost("was made by an unreleased version", aside)
            return cls(path, lock, _connected(path), lost=lost)
        is_empty = path.exists() and not path.stat().st_size
        try:
            if damage or (is_empty and lock.left):
                raise CatalogDamaged(damage or f"{path} is empty.")
            is_doubted = lock.left != _closing_note(path)
            return cls(path, lock, _connected(path, is_doubted=is_doubted))
        except (CatalogDamaged, sqlite3.DatabaseError) as error:
            if not at or not is_damage(error) or not (lock.left or is_ours(path)):
                raise
            reason = str(error).removesuffix(REBUILT).rstrip(". ")
            aside = _put_aside(path, at, "damaged")
            db, lost = _connected(path), Lost(f"was damaged ({reason})", aside)
            is_whole = recovery.copied(aside, db, lost.reason, at)
            log.error(
                "the catalog is damaged (%s) and is kept as %s; a new one %s",
                reason,
                aside,
                "has all but some of its history"
                if is_whole
                else "takes over the versions whose files are kept and people's decisions, but not "
                "the history of changes, scans and indexes",
            )
            return cls(path, lock, db, lost=None if is_whole else lost)

    def close(self) -> None:
        """Copy the write-ahead log into the file and release the lock.

        A full or broken disk may prevent the first; the next start repairs it.
        """
        note = None
        try:
            if self._lock and self.is_in_place():
                with suppress(sqlite3.Error, OSError):
                    leave_readable(self.db.conn, self.path)
                    note = _closing_note(self.path)
            with suppress(sqlite3.Error, OSError):
                self.db.conn.close()
        finally:  # else its own lock would refuse this process
            if self._lock:
                self._lock.close(note)
                self._lock = None

    def is_in_place(self) -> bool:
        """Return whether this file and its lock still exist at their original paths."""
        return is_same_file(self.path, self._stat) and (not self._lock or self._lock.is_in_place())


def _put_unreleased_aside(path: Path, at: datetime | None) -> Path | None:
    """Rename a catalog with a schema of before the first release; return its new path.

    Its decisions are added to the file of decisions.
    """
    if at is None or not is_ours(path):
        return None
    # If it cannot be read, the opening that follows reports that.
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as connection:
        if not is_unreleased(connection):
            return None
        decided = decision_file.decided_in(connection)
        connection.close()
        decision_file.update(path.with_name(decision_file.NAME), decided)
        return _put_aside(path, at, "old")
    return None


def _put_aside(path: Path, at: datetime, kind: str) -> Path:
    """Rename a catalog, with the time in its new name, and return that path.

    Its log is renamed first, because a new catalog must not find it.
    """
    base = f"{path.name}.{kind}-{at.astimezone(UTC):%Y%m%d-%H%M%S}"
    name, count = base, 1
    while os.path.lexists(path.with_name(name)):
        count += 1
        name = f"{base}-{count}"
    for ending in ("-wal", "-shm", ""):
        with suppress(FileNotFoundError):
            path.with_name(f"{path.name}{ending}").rename(path.with_name(f"{name}{ending}"))
    return path.with_name(name)


def migrated(connection: sqlite3.Connection) -> Writer:
    """Return a connection as a database with the current schema and foreign keys."""
    if missing_migrations(connection):
        from catalog.database import schema  # nearly every start can do without

        schema.apply(connection)  # before foreign keys count: a changed table is made again
    return Writer(connection)


def _connected(path: Path, *, is_doubted: bool = False) -> Writer:
    """Open the file; if its last writer did not close it as it is now, check every page."""
    connection = connect(path, is_doubted=is_doubted)
    try:
        return migrated(connection)
    except BaseException:
        connection.close()
        raise


def _closing_note(path: Path) -> str | None:
    """Return the note for the lock file: the state of the catalog file when it was closed."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return f"closed {stat.st_ino} {stat.st_size} {stat.st_mtime_ns}\n"
