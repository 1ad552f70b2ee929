"""Duplicates: groups of skills of one content or description, and skills with similar bodies."""

import pytest

from catalog.model.change import Removal
from catalog.reading.search import duplicates
from catalog.writing.store import Store
from tests.support.bodies import edited, made_body
from tests.support.records import NOON, ROOT, judged, refused, rooted

BODY = made_body(1)
OTHER = made_body(2)


@pytest.fixture
def store() -> Store:
    """Return a catalog with two families of similar skills, copies, and skills of their own."""
    store = rooted(Store.in_memory())
    store.apply(
        [
            judged("pdf", "Reads.", body=BODY),
            judged("copy/pdf", "Reads.", body=BODY),
            judged("reader", "Reads papers.", body=edited(BODY, 0.05)),
            judged("papers", "Reads papers.", body=edited(BODY, 0.25, seed=2)),
            judged("chart", "Draws.", body=OTHER),
            judged("graph", "Paints.", body=edited(OTHER, 0.05)),
            judged("one", "Is alone.", body=made_body(3)),
            judged("small-a", "Small a.", body="# Steps"),
            judged("small-b", "Small b.", body="# Steps"),
        ],
        trigger="start",
        at=NOON,
    )
    return store


def test_only_the_same_files_are_a_hundred_percent(store: Store) -> None:
    """The same instructions with another description are not."""
    store.apply([judged("pdf-two", "Reads on.", body=BODY)], trigger="event", at=NOON)
    (row,) = store.db.query("SELECT * FROM skills WHERE path = 'pdf-two'")
    percents = {row["path"]: row["percent"] for row in duplicates.similar(store.db, row)}
    assert percents["pdf"] == percents["copy/pdf"] == 99


def test_a_skill_has_its_similar_skills(store: Store) -> None:
    """Those under other identifiers, most similar first; never itself or its rivals."""

    def similar(path: str) -> list[str]:
        (row,) = store.db.query("SELECT * FROM skills WHERE path = ?", [path])
        found = duplicates.similar(store.db, row)
        assert all(70 <= row["percent"] <= 99 for row in found)
        return [row["path"] for row in found]

    assert similar("pdf") == ["reader", "papers"]
    assert set(similar("reader")) == {"pdf", "copy/pdf", "papers"}
    assert similar("one") == similar("small-a") == []


def test_a_skill_has_those_with_the_same_files(store: Store) -> None:
    """Under other identifiers, so not its shadowed copy; removed ones are left out."""
    store.apply([judged("copy/other", "Reads.", name="x", body=BODY)], trigger="event", at=NOON)
    store.db.execute(
        "UPDATE skills SET digest = (SELECT digest FROM skills WHERE path = 'pdf')"
        " WHERE path = 'copy/other'"
    )
    (row,) = store.db.query("SELECT * FROM skills WHERE path = 'pdf'")
    assert [each["path"] for each in duplicates.same(store.db, row)] == ["copy/other"]
    store.apply([Removal(ROOT, "copy/other")], trigger="event", at=NOON)
    assert duplicates.same(store.db, row) == []


def test_only_the_current_content_is_compared(store: Store) -> None:
    """Neither an earlier version nor the rejected content of a folder is."""
    store.apply([judged("graph", body=made_body(4)), refused("pdf")], trigger="event", at=NOON)
    (row,) = store.db.query("SELECT * FROM skills WHERE path = 'chart'")
    assert duplicates.similar(store.db, row) == []
    (row,) = store.db.query("SELECT * FROM skills WHERE path = 'reader'")
    found = {each["path"] for each in duplicates.similar(store.db, row)}
    assert found == {"pdf", "copy/pdf", "papers"}
