"""Writes what is searched of the skills, into the table and into the full-text index over it."""

from collections.abc import Sequence
from sqlite3 import Connection
from typing import Any

from catalog.rows import TEXT_COLUMNS
from catalog.statements import columns, insert


def replace(db: Connection, texts: Sequence[tuple[Any, ...]]) -> None:
    """Write rows of `skill_text`, in the place of those with the same ids. Raises sqlite3.Error.

    A trigger takes from the index what leaves the table. What comes is given to both in one go
    each: FTS5 flushes what it has gathered at each row that a trigger gives it.
    """
    db.executemany("DELETE FROM skill_text WHERE id = ?", [row[:1] for row in texts])
    db.executemany(insert("skill_text", TEXT_COLUMNS), texts)
    db.executemany(_INDEX, texts)


_INDEX = (f"INSERT INTO skills_fts (rowid, {columns(TEXT_COLUMNS[1:])})"
          f" VALUES ({', '.join('?' * len(TEXT_COLUMNS))})")
