"""Queries on an open catalog, transactions of its one writer, and values as SQL has them."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, TypeAlias

from catalog.model.values import Json

if TYPE_CHECKING:
    from sqlite_utils.db import Table

Parameters: TypeAlias = Sequence[Any] | dict[str, Any]


class Database:
    """Open catalog; its one writing process has a `Writer`, which is a `Database`, too.

    No query has a savepoint around it, which full-text tables would pay for.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
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


ROWS_IN_A_STATEMENT = 256
"""Most rows of an insert: SQLite takes 32,766 values, and the widest table has 60 columns."""


class Writer(Database):
    """Open catalog of its writer; a statement outside a transaction is its own transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Take an open connection in autocommit mode."""
        import sqlite_utils  # readers do not wait for this import

        super().__init__(connection)
        self._tables = sqlite_utils.Database(connection)
        self.execute("PRAGMA foreign_keys = ON")

    def table(self, name: str) -> "Table":
        """Return a table to write rows to."""
        return self._tables.table(name)

    def insert(self, table: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Insert rows of these columns. Raises sqlite3.Error.

        sqlite-utils looks at the table and at each value first, which costs more than the insert.
        """
        values = ", ".join("?" * len(names))
        self.conn.executemany(f"INSERT INTO {table} ({columns(names)}) VALUES ({values})", rows)

    def insert_searched(
        self, table: str, names: Sequence[str], rows: Sequence[Sequence[Any]], conflict: str = ""
    ) -> None:
        """Insert rows of a table whose triggers fill a full-text table; `conflict` is for upserts.

        That one writes a part at each statement. So a statement has many rows, a power of two of
        which LIMIT takes the given ones: SQLite compiles few statements.
        """
        for start in range(0, len(rows), ROWS_IN_A_STATEMENT):
            some = rows[start : start + ROWS_IN_A_STATEMENT]
            size = 1 << (len(some) - 1).bit_length()
            values = ", ".join([f"({', '.join('?' * len(names))})"] * size)
            unused = repeat(None, (size - len(some)) * len(names))
            begin = f"INSERT INTO {table} ({columns(names)}) SELECT * FROM (VALUES {values})"
            self.execute(f"{begin} LIMIT ?{conflict}", [*chain(*some, unused), len(some)])

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Begin with the write lock: taken after a read, it could fail without a retry."""
        self.execute("BEGIN IMMEDIATE")
        self.execute("PRAGMA defer_foreign_keys = ON")  # a skill and its version name each other
        try:
            yield
            self.execute("COMMIT")
        except BaseException:
            if self.conn.in_transaction:  # SQLite may have rolled it back
                self.execute("ROLLBACK")
            raise
