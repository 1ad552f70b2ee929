from collections.abc import Mapping
from dataclasses import dataclass
from sqlite3 import Connection
from typing import Any

import pytest

from catalog.writing.rows import dialects
from catalog.writing.store import Store
from tests.support.records import NOON, judged, rooted


@dataclass(frozen=True)
class Mood:
    """The record of a second dialect."""

    word: str


class MoodRows:
    """The row module of a second dialect."""

    def holds(self, db: Connection, skill: int, declared: Mood | None) -> bool:
        """Compare the word."""
        row = db.execute("SELECT word FROM moods WHERE skill = ?", [skill]).fetchone()
        return (row[0] if row else None) == (declared.word if declared else None)

    def write(self, db: Connection, declared: Mapping[int, Mood | None]) -> None:
        """Write the word."""
        for skill, mood in declared.items():
            db.execute("DELETE FROM moods WHERE skill = ?", [skill])
            if mood:
                db.execute("INSERT INTO moods VALUES (?, ?)", [skill, mood.word])

    def restored(self, described: Mapping[str, Any]) -> Mood:
        """Read the word from a version."""
        return Mood(**described)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    """Return a catalog that has the rows of a second dialect."""
    monkeypatch.setattr("catalog.writing.rows.dialects.ROWS", {**dialects.ROWS, "mood": MoodRows()})
    store = rooted(Store.in_memory())
    store.db.execute("CREATE TABLE moods (skill INTEGER PRIMARY KEY, word TEXT)")
    return store


def moods(store: Store) -> list[tuple[str]]:
    """Return the rows of the second dialect."""
    return store.db.execute("SELECT word FROM moods").fetchall()


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
