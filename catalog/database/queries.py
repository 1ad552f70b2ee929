"""Queries on an open catalog, and values as SQL has them."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from catalog.model.values import Json

Parameters: TypeAlias = Sequence[Any] | dict[str, Any]


class Database:
    """Open catalog; its one writing process has a `Writer`, which is a `Database`, too.

    Readers need no sqlite-utils, and no query has a savepoint around it, which full-text tables
    would pay for.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Take an open connection."""
        self.conn = connection

    def execute(self, sql: str, parameters: Parameters | None = None) -> sqlite3.Cursor:
        """Run a statement. Raises sqlite3.Error."""
        return self.conn.execute(sql, () if parameters is None else parameters)

    def query(self, sql: str, params: Parameters | None = None) -> Iterator[dict[str, Any]]:
        """Run a query now; yield its rows, each by the names of its columns.

        Raises sqlite3.Error.
        """
        cursor = self.execute(sql, params)
        names = [column for column, *_ in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)

    def rows(self, sql: str, params: Parameters | None = None) -> list[dict[str, Any]]:
        """Return all rows of a query. Raises sqlite3.Error."""
        return list(self.query(sql, params))

    def row(self, sql: str, params: Parameters | None = None) -> dict[str, Any] | None:
        """Return the first row of a query, if there is one. Raises sqlite3.Error."""
        return next(self.query(sql, params), None)


def columns(names: Iterable[str]) -> str:
    """Return column names as SQL lists them."""
    return ", ".join(f'"{name}"' for name in names)


Row: TypeAlias = dict[str, Any]

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def to_json(value: Json) -> str:
    """Return compact JSON, with non-ASCII text as it is."""
    return _encode(value)
