from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from catalog.model.declarations import RECORDS
from catalog.writing.rows import derived
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


def test_the_rows_follow_the_current_version(store: Store) -> None:
    """A pin to a version restores its declarations for a dialect."""
    apply(store, "x", {"mood": Mood("merry")})
    apply(store, "y", {})
    first, second = store.db.execute("SELECT id FROM versions ORDER BY id").fetchall()
    for (version,), expected in ((first, [("merry",)]), (second, [])):
        store.db.execute("UPDATE skills SET current_version_id = ?", [version])
        derived.write(store.db, [1])
        assert moods(store) == expected
    store.db.conn.close()
