"""The schema that Datasette asks for again and again."""

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from datasette.app import Datasette

from catalog.site.server import known_schema
from catalog.site.server.known_schema import KnownSchema
from tests.support.sites import Site


class Traced(KnownSchema):
    """Database that lists its statements."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.statements: list[str] = []

    def connect(self, write: bool = False) -> sqlite3.Connection:
        """Return a connection whose statements are listed."""
        connection: sqlite3.Connection = super().connect(write)
        connection.set_trace_callback(lambda sql: self.statements.append(sql))
        return connection


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a database with one table."""
    path = tmp_path / "one.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE one (id INTEGER PRIMARY KEY, a TEXT)")
    return path


class Asked:
    """The database in a Datasette without threads, after its first statement."""

    def __init__(self, runner: asyncio.Runner, file: Path) -> None:
        self._runner = runner
        self.database = self(lambda _: open_traced(file))
        self(lambda database: database.execute("SELECT 1"))
        self.look_ups()

    def __call__(self, question: Callable[[Any], Coroutine[Any, Any, Any]]) -> Any:
        """Return the answer to a question to the database."""
        return self._runner.run(question(vars(self).get("database")))

    def look_ups(self) -> list[str]:
        """Return the statements that were no look at the version, and forget them."""
        statements = self.database.statements
        self.database.statements = []
        return [sql for sql in statements if sql != "PRAGMA schema_version"]


async def open_traced(file: Path) -> Traced:
    """Return the database of a file, in a Datasette of its own."""
    datasette = Datasette([], settings={"num_sql_threads": 0})
    database: Traced = datasette.add_database(Traced(datasette, str(file)), name="one")
    return database


@pytest.fixture
def ask(file: Path) -> Iterator[Asked]:
    """Return the database."""
    with asyncio.Runner() as runner:
        asked = Asked(runner, file)
        yield asked
        asked.database.close()


QUESTIONS: dict[str, Callable[[Any], Coroutine[Any, Any, Any]]] = {
    "columns": lambda database: database.table_columns("one"),
    "keys": lambda database: database.primary_keys("one"),
    "foreign keys": lambda database: database.foreign_keys_for_table("one"),
    "existence": lambda database: database.table_exists("one"),
    "definition": lambda database: database.get_table_definition("one"),
    "view": lambda database: database.get_view_definition("one"),
    "label": lambda database: database.label_column_for_table("one"),
    "views": lambda database: database.view_names(),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_schema_is_looked_up_once(ask: Asked, question: str) -> None:
    """The second answer is the same without a statement."""
    first = ask(QUESTIONS[question])
    assert ask.look_ups()
    assert ask(QUESTIONS[question]) == first
    assert not ask.look_ups()


def test_a_change_of_the_schema_is_known_from_the_next_statement_on(ask: Asked, file: Path) -> None:
    """A migration of another process changes the columns of a page."""
    assert ask(QUESTIONS["columns"]) == ["id", "a"]
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("ALTER TABLE one ADD COLUMN b TEXT")
    ask(lambda database: database.execute("SELECT 1"))
    assert ask(QUESTIONS["columns"]) == ["id", "a", "b"]


def test_an_answer_is_its_callers_own(ask: Asked) -> None:
    """A caller that changes its list does not change the next answer."""
    for _ in range(3):
        columns = ask(QUESTIONS["columns"])
        assert columns == ["id", "a"]
        columns.append("rowid")


def test_names_of_visitors_do_not_fill_the_memory(
    ask: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any name may be asked for; only some are kept."""
    monkeypatch.setattr(known_schema, "MOST", 2)

    def exists(name: str) -> bool:
        is_there: bool = ask(lambda database: database.table_exists(name))
        return is_there

    assert not any(exists(f"no{number}") for number in range(5))
    ask.look_ups()
    assert not exists("no4")
    assert not ask.look_ups()
    assert not exists("no1")
    assert ask.look_ups()


def test_a_page_of_a_table_asks_only_for_its_rows_again(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second page costs its rows, their number, seven facets and the version of the schema."""
    asked: list[object] = []
    database = site.datasette.get_database("catalog")
    execute = database.execute_fn
    monkeypatch.setattr(
        database, "execute_fn", lambda function: asked.append(function) or execute(function)
    )
    for number in range(2):
        asked.clear()
        assert site.get("/catalog/skills", _size=20 + number).status_code == 200
    assert len(asked) == 10
