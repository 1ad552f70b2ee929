"""Declarations of skills for dialects; each dialect has its own tables and module."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Protocol, TypeAlias

from catalog.database.sql import Row
from catalog.writing.rows import apexbridge

Records: TypeAlias = Mapping[str, Any]
"""Declarations of a skill, one dataclass for each dialect, by the dialect's name."""


class _Rows(Protocol):
    """The module of one dialect."""

    def holds(self, db: sqlite3.Connection, skill: int, declared: Any) -> bool:
        """Return whether the tables already contain a record; None means no record."""

    def write(self, db: sqlite3.Connection, declared: Mapping[int, Any]) -> None:
        """Replace the rows of these skills by their records, inside the caller's transaction."""

    def restored(self, described: Mapping[str, Any]) -> Any:
        """Return the record from the fields stored with a version."""


ROWS: Mapping[str, _Rows] = {
    "apexbridge": apexbridge,
}


def holds(db: sqlite3.Connection, skill: int, records: Records) -> bool:
    """Return whether the tables already contain the declarations of a skill."""
    return all(rows.holds(db, skill, records.get(name)) for name, rows in ROWS.items())


def write(db: sqlite3.Connection, records: Mapping[int, Records]) -> None:
    """Replace the rows of these skills, inside the caller's transaction."""
    for name, rows in ROWS.items():
        rows.write(db, {skill: declared.get(name) for skill, declared in records.items()})


def described(records: Records) -> Row:
    """Return these records as stored with a version."""
    return {name: asdict(records[name]) if name in records else None for name in ROWS}


def restored(version: Row) -> Records:
    """Return the declarations of a version."""
    stored = json.loads(version["described"])
    return {name: rows.restored(stored[name]) for name, rows in ROWS.items() if stored.get(name)}
