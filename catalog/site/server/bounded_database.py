"""Datasette's database, with a bound on the bytes that one answer reads from it."""

import sqlite3
from collections.abc import Callable
from typing import Any

from datasette.database import Database
from datasette.views.base import DatasetteError

RESULT_BYTES = 32 * 2**20
"""Texts and blobs that one statement or one page of the site may read."""


class BoundedDatabase(Database):  # type: ignore[misc]  # Datasette has no types
    """A database that refuses to read more than a bounded number of bytes at once."""

    async def execute_fn(self, fn: Callable[[sqlite3.Connection], Any]) -> Any:
        """Call a function with a connection; raises DatasetteError where it reads too much."""

        def counted(connection: sqlite3.Connection) -> Any:
            connection.row_factory = _counting(RESULT_BYTES)
            try:
                return fn(connection)
            finally:
                connection.row_factory = sqlite3.Row

        return await super().execute_fn(counted)


def _counting(left: int) -> Callable[[sqlite3.Cursor, tuple[Any, ...]], sqlite3.Row]:
    def row(cursor: sqlite3.Cursor, values: tuple[Any, ...]) -> sqlite3.Row:
        nonlocal left
        left -= sum(len(value) for value in values if isinstance(value, str | bytes))
        if left < 0:
            raise DatasetteError(
                "These rows are too large for one answer; ask for fewer with _size.", status=400
            )
        return sqlite3.Row(cursor, values)

    return row
