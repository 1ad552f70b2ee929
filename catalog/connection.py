"""Opens the catalog's file for writing, and says in words what goes wrong with it."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from catalog import schema
from catalog.errors import CatalogUnusable, DiskFull


def connect(path: Path) -> sqlite3.Connection:
    """Open a catalog file for its one writer, having made sure that it is ours.

    Raises CatalogUnusable and sqlite3.Error.
    """
    connection = sqlite3.connect(path, timeout=1, isolation_level=None)
    try:
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        objects = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application != schema.APPLICATION_ID and objects:
            raise CatalogUnusable(
                f"{path} is a database of another program. Name another --data directory.")
        # A row with a SKILL.md in it fits into a page of 16 KiB, and is written a fifth faster.
        connection.execute("PRAGMA page_size = 16384")
        connection.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}")
        connection.execute("PRAGMA journal_mode = WAL")
        # The log may grow to 128 MB while much is written, so that a page which changes often is
        # copied once; when it begins anew it is cut to 32 MB.
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


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn what SQLite and the disk say while a catalog is in use into one clear sentence."""
    try:
        yield
    except (sqlite3.IntegrityError, sqlite3.ProgrammingError):
        raise  # a bug of ours, and no trouble of the disk's
    except sqlite3.DatabaseError as error:
        text = str(error)
        if "full" in text:
            raise DiskFull(f"There is no room left on the disk of {path.parent}.") from error
        raise CatalogUnusable(f"{path} cannot be used: {text}.") from error
    except OSError as error:
        if error.errno in _FULL:
            raise DiskFull(f"There is no room left on the disk of {path.parent}.") from error
        raise CatalogUnusable(
            f"{error.filename or path} cannot be used: {error.strerror or error}.") from error


_FULL = {errno.ENOSPC, errno.EDQUOT}
