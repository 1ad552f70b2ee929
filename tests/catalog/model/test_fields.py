"""The table of fields, from which columns, search and pages follow."""

from collections.abc import Iterator
from typing import Any

import pytest

from catalog.model.fields import COLUMNS, DECLARED, EMPTY, SEARCHED, Declared, declared_values
from catalog.model.skill import SkillRecord
from catalog.reading.search import word_search
from catalog.reading.skills import skill_facts
from catalog.writing.store import Store
from tests.support.records import NOON, judged, rooted


@pytest.fixture
def store() -> Iterator[Store]:
    """Return an empty catalog."""
    made = rooted(Store.in_memory())
    yield made
    made.close()


def test_each_column_is_an_attribute_of_a_record_and_a_column(store: Store) -> None:
    """So the row of a record has all of them, with the values of the table without one."""
    assert set(SkillRecord._fields) >= COLUMNS.keys()
    columns = {row["name"]: row for row in store.db.query("PRAGMA table_info(skills)")}
    assert columns.keys() >= COLUMNS.keys()
    assert EMPTY["tags"] == columns["tags"]["dflt_value"].strip("'") == "[]"


@pytest.mark.parametrize("name", [name for name, column in DECLARED.items() if column.label])
def test_a_declared_field_is_stored_and_shown(store: Store, name: str) -> None:
    """In its column and among the facts of the skill."""
    values: dict[str, Any] = {name: "Quokka"}
    store.apply([judged("one", **values)], trigger="command", at=NOON)
    assert store.db.execute(f"SELECT {name} FROM skills").fetchall() == [("Quokka",)]
    assert skill_facts.all_of(store.db, "one", "https://skills.example/")[name] == "Quokka"


@pytest.mark.parametrize("name", SEARCHED)
def test_a_searched_column_is_found(store: Store, name: str) -> None:
    """A result has the word that stands in it."""
    values: dict[str, Any] = {name: ("quokka",) if COLUMNS[name].kind is tuple else "quokka"}
    store.apply([judged("one", **values)], trigger="command", at=NOON)
    (hit,) = word_search.search(store.db, "quokka").hits
    assert hit.matched == ("quokka",)


def test_a_field_may_stand_in_the_metadata() -> None:
    """The top level comes first; an empty text counts as no value."""
    declared = Declared.model_validate(
        {"author": "", "license": "MIT", "metadata": {"author": "Ada", "license": "no"}}
    )
    values = declared_values(declared)
    assert (values["author"], values["license"], values["category"]) == ("Ada", "MIT", None)
