"""Datasette's database with a limit on the bytes read for one response."""

import sqlite3
from collections.abc import Callable
from typing import Any

from datasette.views.base import DatasetteError

from catalog.site.server.known_schema import KnownSchema

RESULT_BYTES = 32 * 2**20
"""Most bytes of texts and blobs that one statement or one page of the site may read."""


class BoundedDatabase(KnownSchema):
    """Database that limits the bytes read by one call."""

    async def execute_fn(self, fn: Callable[[sqlite3.Connection], Any]) -> Any:
        """Call a function with a connection. Raises DatasetteError if it reads too much."""

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
                "These rows are too large for one page; request fewer with _size.", status=400
            )
        return sqlite3.Row(cursor, values)

    return row
