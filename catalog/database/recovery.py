"""Reading of damaged catalogs, and a copy of one where no part that others rest on is lost."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from pathlib import Path

from catalog.database.connection import missing_migrations
from catalog.database.queries import Writer
from catalog.text.humanize import iso

_INCOMPLETE = ("findings", "skill_references", "scans", "ingestions", "requests", "index_entries")
"""Tables that may lack rows: history, and what the next scan writes again."""


def copied(damaged: Path, db: Writer, reason: str, at: datetime) -> bool:
    """Copy the rows of a damaged catalog into a new one of the same schema.

    The next scan reads all folders again. Return False, and copy nothing, if a row of another
    table than those of history cannot be read, or lacks the row that it refers to.
    """
    try:
        with db.transaction(), opened(damaged) as old:
            if missing_migrations(old):
                raise sqlite3.DatabaseError("it has another schema")
            db.execute("PRAGMA defer_foreign_keys = ON")
            for (table,) in db.execute(_TABLES).fetchall():
                _copy(old, db, table)
            while dangling := db.execute("PRAGMA foreign_key_check").fetchall():
                for table, row, *_ in dangling:
                    if table not in _INCOMPLETE:
                        raise sqlite3.DatabaseError(f"{table} has lost rows")
                    db.execute(f"DELETE FROM {table} WHERE rowid = ?", [row])
            db.execute("UPDATE skills SET fingerprint = ''")
            db.execute("UPDATE roots SET judged_by = ''")
            db.execute(_NOTE, [iso(at), reason, damaged.name])
    except (OSError, sqlite3.DatabaseError):
        return False
    return True


def _copy(old: sqlite3.Connection, db: Writer, table: str) -> None:
    names = [f'"{name}"' for _, name, *_ in db.execute(f"PRAGMA table_info({table})")]

    def rows() -> Iterator[tuple[object, ...]]:
        try:
            yield from old.execute(f"SELECT {', '.join(names)} FROM {table} NOT INDEXED")
        except sqlite3.DatabaseError:
            if table not in _INCOMPLETE:
                raise

    db.execute(f"DELETE FROM {table}")
    values = ", ".join("?" * len(names))
    db.conn.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({values})", rows())


def opened(damaged: Path) -> closing[sqlite3.Connection]:
    """Open a catalog that was put aside, also without its first bytes.

    Raises OSError and sqlite3.Error.
    """
    with damaged.open("rb") as file:
        if file.read(len(_MAGIC)) == _MAGIC:
            return closing(sqlite3.connect(f"{damaged.absolute().as_uri()}?mode=ro", uri=True))
    content = bytearray(damaged.read_bytes())
    content[:24] = _MAGIC + _PAGES
    connection = sqlite3.connect(":memory:")
    connection.deserialize(content)
    return closing(connection)


_MAGIC = b"SQLite format 3\0"
_PAGES = b"\x40\0\1\1\0\x40\x20\x20"
"""Rest of the header: pages of 16 KiB, no write-ahead log, and what never changes."""
_TABLES = """
    SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB '*_fts*'
        AND name NOT GLOB '*sqlite_*' AND name != 'search_vocabulary' ORDER BY rowid
"""
_NOTE = """
    UPDATE health SET recoveries = json_insert(recoveries, '$[#]', json_object('recovered_at', ?,
        'reason', ?, 'damaged_file', ?, 'packages_removed', 0))
"""
