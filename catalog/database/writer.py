"""The catalog as its one writer has it open: transactions, and tables that sqlite-utils writes."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import sqlite_utils
from sqlite_utils.db import Table

from catalog.database.queries import Database


class Writer(Database):
    """Open catalog of its writer; a statement outside a transaction is its own transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        """Take an open connection in autocommit mode."""
        super().__init__(connection)
        self._tables = sqlite_utils.Database(connection)
        self.execute("PRAGMA foreign_keys = ON")

    def table(self, name: str) -> Table:
        """Return a table to write rows to."""
        return self._tables.table(name)

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
