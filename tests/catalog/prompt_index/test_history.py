"""History of the publications of an index."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from catalog.model.setting import Retention
from catalog.prompt_index import query as prompt_index_query
from catalog.prompt_index.builder import PromptIndex
from catalog.prompt_index.history import USUAL
from catalog.prompt_index.spec import IndexSpec
from catalog.reading import index_views
from catalog.writing.store import Store
from tests.support.records import NOON, judged, rooted

DAY = timedelta(days=1)
SPEC = IndexSpec()


@pytest.fixture
def store() -> Iterator[Store]:
    """Return a catalog with one index."""
    store = rooted(Store.in_memory())
    store.indexes.configure([SPEC])
    yield store
    store.close()


def say(store: Store, text: str, day: int, keep: Retention = USUAL) -> None:
    """Publish a text on a day."""
    store.indexes.record(SPEC, PromptIndex(text, ()), NOON + day * DAY, keep)


def kept(store: Store) -> list[str]:
    """Return the texts that are kept, oldest publication first."""
    return [
        row["text"]
        for row in store.db.query(
            "SELECT text FROM index_builds JOIN index_texts USING (sha256) ORDER BY published_at"
        )
    ]


def test_a_text_that_is_published_again_is_stored_once(store: Store) -> None:
    """It is found for both publications."""
    for day, text in enumerate(["one", "two", "one"]):
        say(store, text, day)
    said = [index_views.build(store.db, "default", number) for number in (1, 2, 3, None)]
    assert [row and row["text"] for row in said] == ["one", "two", "one", "one"]
    assert store.db.execute("SELECT count(*) FROM index_texts").fetchone() == (2,)
    assert index_views.build(store.db, "default", 4) is None


def test_the_number_of_publications_is_limited(store: Store) -> None:
    """The newest stay with their texts, even if an older publication had the same text."""
    for day, text in enumerate(["a", "b", "c", "a"]):
        say(store, text, day, Retention(index_builds=2))
    assert kept(store) == ["c", "a"]
    assert store.db.execute("SELECT count(*) FROM index_texts").fetchone() == (2,)


def test_publications_in_force_within_the_days_are_kept(store: Store) -> None:
    """A publication is removed once the next one is too old as well: until then it was in force."""
    for day, text in enumerate(["a", "b", "c"]):
        say(store, text, day)
    say(store, "d", 12, Retention(index_days=10))
    assert kept(store) == ["c", "d"]
    say(store, "e", 40, Retention(index_days=10))
    assert kept(store) == ["d", "e"]


def test_an_index_that_is_no_longer_configured_takes_its_texts_along(store: Store) -> None:
    """No text without a publication is left."""
    say(store, "a", 0)
    store.indexes.configure([IndexSpec("other")])
    assert store.db.execute("SELECT count(*) FROM index_texts").fetchone() == (0,)


def test_entries_are_rewritten_where_they_changed(store: Store) -> None:
    """After every publication the rows are the entries, and no more."""
    for count in (3, 1, 2):
        store.apply(
            [judged(f"s{n}", "Reads. " * count) for n in range(count)], trigger="event", at=NOON
        )
        spec = IndexSpec(names=tuple(f"s{n}" for n in range(count)))
        index = prompt_index_query.build_index(store.db, spec)
        store.indexes.record(spec, index, NOON)
        assert store.indexes.published_at(spec, index)
        assert [
            tuple(row.values())
            for row in store.db.query("SELECT rank, state, chars FROM index_entries ORDER BY rank")
        ] == [(rank, "full", len(entry.text)) for rank, entry in enumerate(index.entries, start=1)]
