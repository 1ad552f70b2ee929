"""Connections to the catalog file, and checks of its pages."""

import errno
import os
import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from catalog.database.lock import is_locked, lock_of
from catalog.database.queries import Database
from catalog.model.errors import CatalogDamaged, CatalogUnusable, NotInCatalog, NotPossible

VALUE_BYTES = 32 * 2**20
"""Longest text, blob or row; by default no value in a catalog is above 1 MiB."""

LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,  # characters; the longest of skilldrop has 10,000
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    # LIKE and GLOB take time in proportion to pattern times text, and no time limit stops them.
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 2000,  # Datasette asks for the labels of 1,000 rows
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}


def apply_limits(connection: sqlite3.Connection) -> None:
    """Set the limits of a connection."""
    for limit, value in LIMITS.items():
        connection.setlimit(limit, value)


def connect(path: Path, *, is_doubted: bool = False) -> sqlite3.Connection:
    """Open a catalog file for its one writer; refuse a file with unknown tables and leave it as is.

    With is_doubted every page is checked, which takes 0.2 to 0.5 s for 10,000 skills.
    Raises CatalogUnusable, CatalogDamaged and sqlite3.Error.
    """
    refuse_directory(path)
    connection = sqlite3.connect(path, timeout=1, isolation_level=None)
    try:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            _check_origin(connection, path)
            if is_doubted:
                check_pages(connection, path)
        # A row with a SKILL.md fits in a page of 16 KiB and is written a fifth faster.
        connection.execute("PRAGMA page_size = 16384")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode = WAL")
        # The log may grow to 128 MB during large writes, so that a page which changes often is
        # copied only once. It is cut to 4 MB when it starts over, which is room for the health row
        # on a disk that is full.
        connection.execute("PRAGMA wal_autocheckpoint = 8000")  # pages
        connection.execute("PRAGMA journal_size_limit = 4000000")
        # In WAL mode NORMAL never corrupts the file. A power cut can lose the last commits; the
        # scan at the next start brings them back from the roots.
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA cache_size = -32000")
        # On disk, the undo of each statement would be nearly half of all that is written.
        connection.execute("PRAGMA temp_store = MEMORY")
    except BaseException:
        connection.close()
        raise
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open a catalog file for reading; works without write access to the file or its directory.

    Raises CatalogUnusable, and CatalogDamaged where the file is damaged.
    """
    refuse_directory(path)
    try:
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?{read_mode(path)}", uri=True, timeout=10
        )
        try:
            apply_limits(connection)
            if not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                raise CatalogUnusable(
                    f"The catalog {path} is empty. Fill it with `skilldrop scan` or `skilldrop up`."
                )
            _check_origin(connection, path)
            if missing_migrations(connection):
                raise CatalogUnusable(
                    f"The catalog {path} was written by an older version of skilldrop. "
                    "Upgrade it with `skilldrop scan` or `skilldrop up`."
                )
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
    """Return the URI parameters with which this process can read a catalog file.

    A file in WAL mode needs its log and the log's index beside it. `leave_readable` leaves both.
    A file that was copied alone lacks them; where they cannot be created, SQLite can read the file
    only as immutable. Raises CatalogUnusable where that would ignore a log with changes.
    """
    log, index = (path.with_name(f"{path.name}{ending}") for ending in ("-wal", "-shm"))
    if (log.exists() and index.exists()) or os.access(path.parent, os.W_OK):
        return READ_BESIDE_A_WRITER
    if log.exists() and log.stat().st_size:
        raise CatalogUnusable(
            f"The catalog {path} was not closed, and its newest changes cannot be read without "
            f"the right to write in {path.parent}. Ask its owner to run `skilldrop status` once."
        )
    return READ_BESIDE_A_WRITER if is_locked(lock_of(path)) else READ_AT_REST


def leave_readable(connection: sqlite3.Connection, path: Path) -> None:
    """Close the writer's connection, with all changes in the file and an empty log beside it.

    SQLite would remove the log and its index, and users without write access to the directory
    could then not read the file. A second connection that is still open prevents the removal;
    being read-only, it cannot remove them itself.
    """
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as reader:
        reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        connection.close()


REBUILT = (
    "A running service, or the next `skilldrop up` or `skilldrop scan`, puts the damaged file "
    "aside and builds a new one from the roots, the published versions and people's decisions."
)


def is_damage(error: BaseException) -> bool:
    """Return whether an error means that a file is damaged or is not a database."""
    return isinstance(error, CatalogDamaged) or _primary_code(error) in (
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    )


def _primary_code(error: BaseException) -> int:
    """Return SQLite's result code of an error, without its extension; 0 where it has none."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF


def is_ours(path: Path) -> bool:
    """Return whether the header of a file is that of a catalog, even a damaged one."""
    with suppress(OSError), path.open("rb") as file:
        return file.read(72)[68:] == APPLICATION_ID.to_bytes(4)
    return False


def check_pages(connection: sqlite3.Connection, path: Path) -> None:
    """Check every page of an open catalog. Raises CatalogDamaged and sqlite3.Error."""
    problem = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    if problem != "ok":
        page = re.search(r"page (\d+)", problem, re.IGNORECASE)
        raise CatalogDamaged(f"{path} is damaged{f' on page {page[1]}' if page else ''}.")


def _check_origin(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a database of another program or release. Raises CatalogUnusable."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise CatalogUnusable(
            f"{path} is a database of another program. Choose another --data directory."
        )
    if is_unreleased(connection):
        raise CatalogUnusable(
            f"The catalog {path} was made by an unreleased version of skilldrop. `skilldrop scan` "
            "and `skilldrop up` keep it under another name and build a new one from the roots."
        )
    if unknown := [name for name in _applied(connection) if name not in MIGRATIONS]:
        raise CatalogUnusable(
            f"The catalog {path} was written by a newer version of skilldrop "
            f"({unknown[-1]}), whose tables this version does not know. Install that version, or "
            "choose another --data directory."
        )


def refuse_directory(path: Path) -> None:
    """Raise CatalogUnusable where a directory has the path of a catalog file."""
    if path.is_dir():
        raise CatalogUnusable(
            f"{path} is a directory, not a catalog file. Move it away, or choose another --data "
            "directory."
        )


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and the disk into NotPossible, CatalogDamaged or CatalogUnusable."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise  # internal errors, which the disk does not cause
    except sqlite3.DatabaseError as error:
        if _primary_code(error) == sqlite3.SQLITE_FULL:
            raise _disk_full(path) from error
        if is_damage(error):
            raise CatalogDamaged(f"The catalog is damaged: {error}. {REBUILT}") from error
        raise CatalogUnusable(f"{path} cannot be used: {error}.") from error
    except OSError as error:
        if error.errno in _FULL:
            raise _disk_full(path) from error
        raise CatalogUnusable(
            f"{error.filename or path} cannot be used: {error.strerror or error}. "
            "Correct that, or choose another --data directory."
        ) from error


_FULL = {errno.ENOSPC, errno.EDQUOT}


def _disk_full(path: Path) -> NotPossible:
    return NotPossible(f"There is no room left on the disk of {path.parent}. Free some first.")


def open_catalog(path: Path) -> Database:
    """Open a catalog that another process may be writing. Raises NotInCatalog, CatalogUnusable."""
    refuse_directory(path)
    if not path.is_file():
        if is_locked(lock_of(path)):
            raise NotInCatalog(f"The catalog {path} is being built; try again in a moment.")
        raise NotInCatalog(
            f"There is no catalog at {path} yet. Make one with `skilldrop scan` or `skilldrop up`."
        )
    return Database(connect_to_read(path))


def service_runs(path: Path) -> bool:
    """Return whether a running service writes this catalog. Raises as open_catalog does."""
    if not is_locked(lock_of(path)):
        return False
    db = open_catalog(path)
    try:
        return db.execute("SELECT service_pid FROM health").fetchone()[0] is not None
    finally:
        db.conn.close()


class FileCheck:
    """Check of every page in the file, which the writer may not notice because of its cache.

    It runs on a thread of its own, while SQLite lets other threads work.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = threading.Thread()
        self._written = self._last_write()  # before the last check
        self.damage: str | None = None
        """Sentence that describes the damage; None while there is none."""

    def begin(self, *, if_written: bool = False) -> None:
        """Start a check unless one is running, or the file is as it was before the last one."""
        written = self._last_write()
        if not self._thread.is_alive() and not (if_written and written == self._written):
            self._written = written
            self._thread = threading.Thread(target=self._check, name="catalog check", daemon=True)
            self._thread.start()

    def _last_write(self) -> int:
        with suppress(OSError):
            return self._path.stat().st_mtime_ns
        return 0

    def _check(self) -> None:
        try:
            with closing(connect_to_read(self._path)) as connection:
                connection.execute("PRAGMA cache_size = -256")  # each page is read once
                check_pages(connection, self._path)
        except (CatalogUnusable, sqlite3.Error) as error:
            if is_damage(error):
                self.damage = str(error)


APPLICATION_ID = 0x534B4454
"""`SKDT` in the header of every catalog; databases without it are never written to."""

MIGRATION_SET = "skilldrop"
MIGRATIONS = ("m001_catalog",)
"""Names of all migrations, oldest first. Before the first release, a change of tables or indexes
renames the first one, so that older catalogs are rebuilt."""
_TABLE = "_sqlite_migrations"
"""Table of sqlite-utils with the migrations of a file."""


def is_unreleased(connection: sqlite3.Connection) -> bool:
    """Return whether a catalog has a schema from before the first release. Raises sqlite3.Error."""
    return bool(applied := _applied(connection)) and MIGRATIONS[0] not in applied


def missing_migrations(connection: sqlite3.Connection) -> list[str]:
    """Return the migrations of this release that a catalog lacks, oldest first.

    Raises sqlite3.Error.
    """
    applied = _applied(connection)
    return [name for name in MIGRATIONS if name not in applied]


def _applied(connection: sqlite3.Connection) -> list[str]:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [_TABLE]).fetchone():
        return []
    rows = connection.execute(
        f"SELECT name FROM {_TABLE} WHERE migration_set = ? ORDER BY rowid", [MIGRATION_SET]
    )
    return [name for (name,) in rows]
