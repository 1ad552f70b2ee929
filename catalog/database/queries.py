"""Queries on an open catalog, the same for readers and for its writer.

Readers need no sqlite-utils, and no query has a savepoint around it, which full-text tables would
pay for.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any, Protocol, TypeAlias

Parameters: TypeAlias = Sequence[Any] | dict[str, Any]


class Database(Protocol):
    """Open catalog: a `Reader`, or the `Writer` of the process that writes it."""

    @property
    def conn(self) -> sqlite3.Connection:
        """The connection."""
        ...

    def execute(self, sql: str, parameters: Any = None) -> sqlite3.Cursor:
        """Run a statement. Raises sqlite3.Error."""
        ...

    def query(self, sql: str, params: Any = None) -> Iterator[dict[str, Any]]:
        """Run a query; yield its rows, each by the names of its columns. Raises sqlite3.Error."""
        ...


class Reader:
    """Open catalog of a process that only reads."""

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
