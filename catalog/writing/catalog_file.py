"""The catalog file and its writer lock, from opening to closing."""

import logging
import sqlite3
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from catalog.database import packed_texts, schema_version
from catalog.database.connection import (
    REBUILT,
    connect,
    explained,
    is_damage,
    is_ours,
    leave_readable,
)
from catalog.database.lock import WriterLock, is_same_file, lock_of
from catalog.database.queries import Writer
from catalog.model.errors import CatalogDamaged
from catalog.text import humanize
from catalog.writing.recovery import copies, rebuild

log = logging.getLogger("skilldrop")


class CatalogFile:
    """An open catalog file, locked against other writers."""

    def __init__(
        self, path: Path, lock: WriterLock, db: Writer, left_seal: str | None = None
    ) -> None:
        """Take over an open and migrated database with its file and lock."""
        self.db = db
        self.left_seal = left_seal
        """Seal of the last writer, if it closed the file; see `seal`."""
        self._path, self._stat = path, path.stat()
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
        copies.sweep(path)
        is_empty = path.exists() and not path.stat().st_size
        try:
            if damage or (is_empty and lock.left):
                raise CatalogDamaged(damage or f"{path} is empty.")
            note, _, seal = lock.left.partition(_SEALED)
            is_doubted = note != _closing_note(path)
            db = _connected(path, is_doubted=is_doubted)
            return cls(path, lock, db, None if is_doubted else seal.strip() or None)
        except (CatalogDamaged, sqlite3.DatabaseError) as error:
            if not is_damage(error) or not (lock.left or is_ours(path)):
                raise
            if not at:
                raise
            reason = str(error).removesuffix(REBUILT).rstrip(". ")  # the rebuild starts now
            _recover(path, reason, at)
            return cls(path, lock, _connected(path))

    def close(self, seal: str | None = None) -> None:
        """Copy the write-ahead log into the file and release the lock, with a seal."""
        note = None
        if self._lock and self.is_in_place():
            with suppress(sqlite3.Error):  # on a full or broken disk, the next start repairs it
                leave_readable(self.db.conn, self._path)
                note = _closing_note(self._path)
            if note and seal:
                note += f"{_SEALED}{seal}\n"
        self.db.conn.close()
        if self._lock:
            self._lock.close(note)
            self._lock = None

    def is_in_place(self) -> bool:
        """Return whether this file and its lock still exist at their original paths."""
        return is_same_file(self._path, self._stat) and (not self._lock or self._lock.is_in_place())


def migrated(connection: sqlite3.Connection) -> Writer:
    """Return a connection as a database with the current schema and foreign keys."""
    packed_texts.register(connection)
    db = Writer(connection)
    if schema_version.missing_migrations(connection):
        from catalog.database import migrations  # nearly every start can do without

        migrations.apply(connection)
    return db


def _connected(path: Path, *, is_doubted: bool = False) -> Writer:
    connection = connect(path, is_doubted=is_doubted)
    try:
        return migrated(connection)
    except BaseException:
        connection.close()
        raise


def _recover(path: Path, reason: str, at: datetime) -> None:
    """Replace a damaged catalog by a new one; keep the damaged file until that is complete."""
    aside = copies.aside_of(path, at)
    log.error(
        "the catalog is damaged (%s); it is kept as %s, and a new one is built from the roots",
        reason,
        aside,
    )
    with TemporaryDirectory(dir=path.parent, prefix=copies.RECOVERING) as folder:
        new = Path(folder, path.name)
        connection = connect(new)
        try:
            saved = rebuild.recover(migrated(connection), path, aside, reason, at)
            leave_readable(connection, new)
        finally:
            connection.close()
        copies.exchange(path, aside, new)
    copies.keep_newest(path, aside)
    log.warning(
        "recovered from the damaged catalog: %s",
        ", ".join(f"{humanize.count(count, 'row')} of {table}" for table, count in saved.items()),
    )
    if not saved["versions"]:
        log.warning(
            "no version could be recovered, so skills pinned by `rollback` are no longer pinned"
        )
    if not saved["reviews"]:
        log.warning(
            "no decision of `skilldrop approve` and `reject` could be recovered; where a root has "
            "`review`, its content waits again"
        )


_SEALED = "sealed "


def _closing_note(path: Path) -> str | None:
    """Return the note for the lock file: the state of the catalog file when it was closed."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return f"closed {stat.st_ino} {stat.st_size} {stat.st_mtime_ns}\n"
