"""Rows of tags, tools and hosts."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.audit import consistency
from catalog.model.change import Removal
from catalog.writing.rows import facets
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged, rooted


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """Return a catalog with one skill."""
    made = rooted(Store.open(tmp_path / "catalog.db"))
    made.apply([judged("one", tags=("a", "b"))], trigger="command", at=NOON)
    yield made
    made.close()


def rows(store: Store) -> list[tuple[int, str, str]]:
    """Return all rows."""
    return store.db.execute("SELECT * FROM version_facets ORDER BY 1, 2, 3").fetchall()


def test_they_follow_the_content(store: Store) -> None:
    """Each version keeps its own, and content outside the root has none."""
    store.apply([judged("one", "New.", tags=("c",))], trigger="event", at=NOON)
    assert rows(store) == [(1, "tag", "a"), (1, "tag", "b"), (2, "tag", "c")]
    store.apply([Removal(ROOT, "one", leads_out=True)], trigger="event", at=NOON)
    assert rows(store) == []


def test_a_comparison_finds_wrong_ones_and_a_repair_rewrites_them(store: Store) -> None:
    """Also those that are missing."""
    right = rows(store)
    store.db.execute("DELETE FROM version_facets WHERE value = 'a'")
    ((difference),) = consistency.of_catalog(store.db)
    assert (difference.path, difference.message) == ("one", "its tags, tools or hosts are wrong")
    store.repair_facets()
    assert rows(store) == right
    assert not list(consistency.of_catalog(store.db))


def test_those_of_older_versions_are_read_at_the_next_start(store: Store) -> None:
    """From what is stored with each version."""
    right = rows(store)
    store.db.execute("DELETE FROM version_facets")
    facets.mark_missing(store.db)
    assert rows(store) == [(1, "missing", "")]
    store.fill_facets()
    assert rows(store) == right
