"""Connections to the catalog's file, one for its writer and any number for readers."""

import errno
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from sqlite_utils import Database

from catalog.database import limits, migrations
from catalog.database.lock import is_locked, lock_of
from catalog.model.errors import CatalogDamaged, CatalogUnusable, DiskFull, NotInCatalog


def connect(path: Path, *, is_doubted: bool = False) -> sqlite3.Connection:
    """Open a catalog file for its one writer; refuse one with unknown tables unchanged.

    With is_doubted every page of it is looked at, which takes 0.2 to 0.5 s for 10,000 skills.
    Raises CatalogUnusable, CatalogDamaged and sqlite3.Error.
    """
    connection = sqlite3.connect(path, timeout=1, isolation_level=None)
    try:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            _check_origin(connection, path)
            if is_doubted:
                check_pages(connection, path)
        # A row with a SKILL.md in it fits into a page of 16 KiB, and is written a fifth faster.
        connection.execute("PRAGMA page_size = 16384")
        connection.execute(f"PRAGMA application_id = {migrations.APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode = WAL")
        # The log may grow to 128 MB while much is written, so that a page which changes often is
        # copied once; when it starts over it is cut to 32 MB.
        connection.execute("PRAGMA wal_autocheckpoint = 8000")  # pages
        connection.execute("PRAGMA journal_size_limit = 32000000")
        # In WAL mode NORMAL can lose the last commits to a power cut but never corrupts, and
        # the folder tells the lost ones again at the next start.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -32000")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path, *, timeout: float = 10) -> sqlite3.Connection:
    """Open a catalog file to read it, also where this user may write neither it nor beside it.

    timeout is in seconds. Raises CatalogUnusable.
    """
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{read_mode(path)}", uri=True, timeout=timeout
        )
        try:
            limits.apply(connection)
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise CatalogUnusable(f"The catalog {path} cannot be read: it is empty.")
            _check_origin(connection, path)
        except BaseException:
            connection.close()
            raise
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            raise CatalogDamaged(f"The catalog {path} cannot be read: {error}. {REBUILT}") from (
                error
            )
        raise CatalogUnusable(f"The catalog {path} cannot be read: {error}.") from error
    return connection


READ_BESIDE_A_WRITER = "mode=ro"
READ_AT_REST = "mode=ro&immutable=1"


def read_mode(path: Path) -> str:
    """Return the parameters with which SQLite can read a catalog file from here.

    A file in WAL mode needs its log and the log's index beside it. `leave_readable` leaves both;
    of a file that was copied alone they are missing, and where they cannot be made the file can
    only be read as one that nobody writes. Raises CatalogUnusable where its log would be missed.
    """
    log, index = (path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-shm"))
    if (log.exists() and index.exists()) or os.access(path.parent, os.W_OK):
        return READ_BESIDE_A_WRITER
    if log.exists() and log.stat().st_size:
        raise CatalogUnusable(
            f"The catalog {path} was not closed, and its newest changes cannot be read without "
            f"the right to write in {path.parent}. Let its owner run `skilldrop status` once."
        )
    return READ_BESIDE_A_WRITER if is_locked(lock_of(path)) else READ_AT_REST


def leave_readable(connection: sqlite3.Connection, path: Path) -> None:
    """Close the writer's connection; everything is in the file, with an empty log beside it.

    SQLite would remove the log and its index, and without them nobody can read the file who may
    not write beside it. It keeps them while another connection is open, and one that only reads
    cannot remove them either.
    """
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as reader:
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()


REBUILT = (
    "A service that runs, or else the next `skilldrop up` or `skilldrop scan`, keeps the "
    "damaged file aside and makes a new one from the roots, with all history that can be "
    "read."
)


def is_damage(error: BaseException) -> bool:
    """Tell whether an error says that a file is damaged, or is no database at all."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # without the details
    return isinstance(error, CatalogDamaged) or code in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    )


def is_ours(path: Path) -> bool:
    """Tell by the header of a file whether it is a catalog, however damaged."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(72)[68:] == migrations.APPLICATION_ID.to_bytes(4)
    return False


def check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Look at every page of an open catalog. Raises CatalogDamaged and sqlite3.Error."""
    problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if problem != "ok":
        page = re.search(r"page (\d+)", problem, re.IGNORECASE)
        raise CatalogDamaged(f"{path} is damaged{f' on page {page[1]}' if page else ''}.")


def _check_origin(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database with tables that this release does not know. Raises CatalogUnusable."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != migrations.APPLICATION_ID:
        raise CatalogUnusable(
            f"{path} is a database of another program. Name another --data directory."
        )
    if unknown := migrations.unknown_migrations(connection):
        raise CatalogUnusable(
            f"The catalog {path} was written by a newer or unreleased version of skilldrop "
            f"({unknown[-1]}); this one does not know its tables. Install that version, or name "
            "another --data directory."
        )


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the disk say while a catalog is in use into one clear sentence."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise  # an internal error, not one of the disk
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "full" in text:
            raise DiskFull(f"There is no room left on the disk of {path.parent}.") from error
        if is_damage(error):
            raise CatalogDamaged(f"The catalog is damaged: {text}. {REBUILT}") from error
        raise CatalogUnusable(f"{path} cannot be used: {text}.") from error
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFull(f"There is no room left on the disk of {path.parent}.") from error
        raise CatalogUnusable(
            f"{error.filename or path} cannot be used: {error.strerror or error}."
        ) from error


_FULL = {errno.ENOSPC, errno.EDQUOT}


def open_catalog(path: Path) -> Database:
    """Open a catalog that another process may be writing. Raises NotInCatalog, CatalogUnusable."""
    if not path.is_file():
        raise NotInCatalog(
            f"There is no catalog at {path} yet. Make one with `skilldrop scan` or `skilldrop up`."
        )
    return Database(connect_to_read(path))


def service_runs(path: Path) -> bool:
    """Tell whether a service says that it keeps this catalog. Raises what open_catalog raises."""
    db = open_catalog(path)
    try:
        return db.execute("SELECT service_pid FROM health").fetchone()[0] is not None
    finally:
        db.conn.close()
