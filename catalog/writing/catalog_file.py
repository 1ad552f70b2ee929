"""The catalog file and its writer lock, from opening to closing."""

import logging
import sqlite3
from contextlib import closing, suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from catalog.database import schema_version
from catalog.database.connection import (
    REBUILT,
    connect,
    explained,
    is_damage,
    is_ours,
    leave_readable,
)
from catalog.database.lock import WriterLock, is_same_file, lock_of
from catalog.database.writer import Writer
from catalog.model.errors import CatalogDamaged
from catalog.text import humanize
from catalog.writing import damaged_catalog, journal
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
        """Take over an open and migrated database with its file and lock."""
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

        A damaged file is renamed, with the time `at`, and replaced by a new one with its readable
        history; `damage` is the reason if the damage is known already. Raises CatalogBusy if
        another process writes the catalog, CatalogUnusable if the file is not a catalog,
        CatalogDamaged if it is damaged and `at` is missing, and DiskFull.
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
        damaged_catalog.sweep(path)
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
            if not is_damage(error) or not (lock.left or is_ours(path)):
                raise
            if not at:
                raise
            reason = str(error).removesuffix(REBUILT).rstrip(". ")  # the rebuild starts now
            lost = Lost("was damaged", _recover(path, reason, at))
            return cls(path, lock, _connected(path), lost=lost)

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

    Its decisions are added to the journal.
    """
    if at is None or not is_ours(path):
        return None
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as connection:
        if not schema_version.is_unreleased(connection):
            return None
        decided = journal.decided_in(connection)
        connection.close()
        journal.Journal(path.with_name(journal.NAME)).update(decided, at)
        aside = damaged_catalog.aside_of(path, at, "old")
        damaged_catalog.put_log_aside(path, aside)  # where a reader still needs it
        path.rename(aside)
        return aside
    return None


def migrated(connection: sqlite3.Connection) -> Writer:
    """Return a connection as a database with the current schema and foreign keys."""
    if schema_version.missing_migrations(connection):
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


def _recover(path: Path, reason: str, at: datetime) -> Path:
    """Replace a damaged catalog by a new one; return the new path of the damaged file."""
    aside = damaged_catalog.aside_of(path, at)
    log.error(
        "the catalog is damaged (%s); it is kept as %s, and a new one is built from the roots",
        reason,
        aside,
    )
    with TemporaryDirectory(dir=path.parent, prefix=damaged_catalog.RECOVERING) as folder:
        new = Path(folder, path.name)
        connection = connect(new)
        try:
            saved = damaged_catalog.recover(migrated(connection), path, aside, reason, at)
            leave_readable(connection, new)
        finally:
            connection.close()
        damaged_catalog.exchange(path, aside, new)
    damaged_catalog.keep_newest(path, aside)
    log.warning(
        "recovered from the damaged catalog: %s",
        ", ".join(f"{humanize.count(count, 'row')} of {table}" for table, count in saved.items()),
    )
    return aside


def _closing_note(path: Path) -> str | None:
    """Return the note for the lock file: the state of the catalog file when it was closed."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return f"closed {stat.st_ino} {stat.st_size} {stat.st_mtime_ns}\n"
