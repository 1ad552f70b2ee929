"""Rows of the declarations of skills for dialects, of which each has a table."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any, TypeAlias, get_args

from catalog.database.sql import Row, columns, to_json
from catalog.database.writer import Writer
from catalog.model.declarations import RECORDS

Records: TypeAlias = Mapping[str, Any]
"""Declarations of a skill, one dataclass for each dialect, by the dialect's name."""


def has(db: sqlite3.Connection, skill: int, records: Records) -> bool:
    """Return whether the tables already contain the declarations of a skill."""
    return all(_stored(db, skill, name) == _row(records.get(name)) for name in RECORDS)


def write(db: Writer, records: Mapping[int, Records]) -> None:
    """Replace the rows of these skills, inside the caller's transaction."""
    for name in RECORDS:
        old = f"DELETE FROM {name}_skills WHERE skill = ?"
        db.conn.executemany(old, [(skill,) for skill in records])
        rows = {skill: _row(declared.get(name)) for skill, declared in records.items()}
        names = ("skill", *_columns(name))
        db.table(f"{name}_skills").insert_all(
            dict(zip(names, (skill, *row), strict=True)) for skill, row in rows.items() if row
        )


def described(records: Records) -> Row:
    """Return these records as stored with a version."""
    return {name: asdict(records[name]) if name in records else None for name in RECORDS}


def restored(version: Row) -> Records:
    """Return the declarations of a version."""
    stored = json.loads(version["described"])
    return {
        name: _restored(kind, stored[name]) for name, kind in RECORDS.items() if stored.get(name)
    }


def _restored(record: Any, stored: Mapping[str, Any]) -> Any:
    """Return a record from its fields as JSON, which has lists for tuples and objects for tools."""
    values = {each.name: _from_json(stored[each.name], each.type) for each in fields(record)}
    return record(**values)


def _from_json(value: Any, kind: Any) -> Any:
    if not isinstance(value, list):
        return value
    (inner, *_), has_fields = get_args(kind), is_dataclass(get_args(kind)[0])
    return tuple(inner(**item) if has_fields else item for item in value)


def _stored(db: sqlite3.Connection, skill: int, name: str) -> tuple[Any, ...] | None:
    names = columns(_columns(name))
    row = db.execute(f"SELECT {names} FROM {name}_skills WHERE skill = ?", [skill]).fetchone()
    return tuple(row) if row else None


def _columns(name: str) -> tuple[str, ...]:
    return tuple(field.name for field in fields(RECORDS[name]))


def _row(record: Any) -> tuple[Any, ...] | None:
    """Return the values of a record as they are stored: lists and objects are JSON."""
    return None if record is None else tuple(map(_value, asdict(record).values()))


def _value(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    return to_json(value) if isinstance(value, tuple | dict) else value
