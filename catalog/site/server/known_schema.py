"""Datasette's database with its schema in memory, for which each page asks some twenty times."""

import sqlite3
from collections.abc import Awaitable, Callable, Hashable
from copy import copy
from functools import wraps
from typing import Any, NamedTuple

from datasette.database import Database

_SPELLING = (
    "select name from sqlite_master where type in ('table', 'view') and name = ? collate nocase"
)
"""Datasette's statement before each check of the right to see a table."""

MOST = 1_000
"""Answers that are kept."""


class _Schema(NamedTuple):
    """Answers to questions about one version of the schema."""

    version: int | None
    answers: dict[Hashable, Any]


def _remembered(name: str) -> Callable[..., Awaitable[Any]]:
    """Return a method of Datasette's database that looks up each answer once per schema."""
    look_up = getattr(Database, name)

    @wraps(look_up)
    async def method(self: "KnownSchema", *arguments: Any) -> Any:
        return await self._answer((name, *arguments), lambda: look_up(self, *arguments))

    return method


class KnownSchema(Database):  # type: ignore[misc]  # Datasette has no types
    """Database that notes the version of the schema at each statement.

    Datasette begins each page of a table with a statement, so that no page is made of an older
    schema than the one that was current when it was asked for.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._schema = _Schema(None, {})

    async def execute_fn(self, fn: Callable[[sqlite3.Connection], Any]) -> Any:
        """Call a function with a connection, after a look at the version of the schema."""

        def noted(connection: sqlite3.Connection) -> Any:
            (version,) = connection.execute("PRAGMA schema_version").fetchone()
            if version != self._schema.version:
                self._schema = _Schema(version, {})
            return fn(connection)

        return await super().execute_fn(noted)

    async def execute(self, sql: str, params: Any = None, *more: Any, **named: Any) -> Any:
        """Execute a statement as Datasette does."""
        ask = super().execute
        if sql != _SPELLING:
            return await ask(sql, params, *more, **named)
        return await self._answer((sql, *params), lambda: ask(sql, params, *more, **named))

    async def _answer(self, key: Hashable, look_up: Callable[[], Awaitable[Any]]) -> Any:
        answers = self._schema.answers
        if key in answers:
            return copy(answers[key])
        answer = await look_up()
        if len(answers) >= MOST:  # names of tables come from visitors
            answers.clear()
        answers[key] = answer  # of a newer schema, it stays with the older answers
        return copy(answer)

    table_exists = _remembered("table_exists")
    table_names = _remembered("table_names")
    view_names = _remembered("view_names")
    hidden_table_names = _remembered("hidden_table_names")
    table_columns = _remembered("table_columns")
    table_column_details = _remembered("table_column_details")
    primary_keys = _remembered("primary_keys")
    fts_table = _remembered("fts_table")
    foreign_keys_for_table = _remembered("foreign_keys_for_table")
    label_column_for_table = _remembered("label_column_for_table")
    get_all_foreign_keys = _remembered("get_all_foreign_keys")
    get_table_definition = _remembered("get_table_definition")
