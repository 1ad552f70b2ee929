from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from catalog.model.declarations import RECORDS
from catalog.writing.rows import dialects
from catalog.writing.store import Store
from tests.support.records import NOON, judged, rooted


@dataclass(frozen=True)
class Mood:
    """The record of a second dialect."""

    word: str


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return a catalog that has the table of a second dialect."""
    monkeypatch.setitem(RECORDS, "mood", Mood)
    return rooted(Store.in_memory())


def moods(store: Store) -> list[tuple[str]]:
    """Return the rows of the second dialect."""
    return store.db.execute("SELECT word FROM mood_skills").fetchall()


def apply(store: Store, body: str, records: Mapping[str, object]) -> str:
    """Store one skill, and return the outcome."""
    (applied,) = store.apply([judged("pdf", body=body, dialects=records)], trigger="event", at=NOON)
    return applied.outcome


def test_a_second_dialect_has_its_own_rows(store: Store) -> None:
    """Its record is written, compared, and deleted with its declaration."""
    assert apply(store, "x", {"mood": Mood("merry")}) == "added"
    assert moods(store) == [("merry",)]
    assert apply(store, "x", {"mood": Mood("merry")}) == "unchanged"
    assert apply(store, "x", {"mood": Mood("grave")}) == "updated"
    assert moods(store) == [("grave",)]
    assert apply(store, "y", {}) == "updated"
    assert moods(store) == []
    store.db.conn.close()


def test_the_records_of_a_version_can_be_restored(store: Store) -> None:
    """A pin to a version can restore its declarations for a dialect."""
    apply(store, "x", {"mood": Mood("merry")})
    apply(store, "y", {})
    first, second = store.db.query("SELECT described FROM version_contents ORDER BY id")
    assert dialects.restored(first) == {"mood": Mood("merry")}
    assert dialects.restored(second) == {}
    store.db.conn.close()
