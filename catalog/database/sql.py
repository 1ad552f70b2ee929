"""SQL statements that are the same for every table, and JSON columns."""

import json
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import chain
from sqlite3 import Connection
from typing import Any, TypeAlias

from catalog.model.values import Json

Transaction: TypeAlias = Callable[[], AbstractContextManager[None]]
"""Begins a transaction; the end of the context commits it, an exception rolls it back."""
_AT_ONCE = (128, 16)
"""Rows in one statement: few sizes, since each is a prepared statement that is kept.

Statements with 512 rows are no faster, and take 2 MB of memory in a first scan.
"""


def columns(names: Iterable[str]) -> str:
    """Return column names as SQL lists them."""
    return ", ".join(f'"{name}"' for name in names)


def insert(table: str, names: Sequence[str], rows: int = 1) -> str:
    """Return the statement that inserts rows, with values in the order of these columns."""
    row = f"({', '.join('?' * len(names))})"
    return f"INSERT INTO {table} ({columns(names)}) VALUES {', '.join([row] * rows)}"


def upsert(table: str, names: Sequence[str], rows: int = 1) -> str:
    """Return the statement that inserts rows, or updates those with the same ids."""
    assignments = ", ".join(f'"{name}" = excluded."{name}"' for name in names if name != "id")
    return f"{insert(table, names, rows)} ON CONFLICT (id) DO UPDATE SET {assignments}"


def write(
    db: Connection,
    statement: Callable[[str, Sequence[str], int], str],
    table: str,
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
) -> None:
    """Insert or upsert rows in as few statements as possible. Raises sqlite3.Error.

    One statement for each short row takes twice as long. With triggers, each statement also keeps
    a copy of every page it changes, in case it fails: for one row, a page of each index.
    """
    done = 0
    for size in _AT_ONCE:
        while len(rows) - done >= size:
            db.execute(
                statement(table, names, size), list(chain.from_iterable(rows[done : done + size]))
            )
            done += size
    db.executemany(statement(table, names, 1), rows[done:])


Row: TypeAlias = dict[str, Any]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_json(value: Json) -> str:
    """Return compact JSON, with non-ASCII text as it is."""
    return _encode(value)
