"""Questions asked of a catalog."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from records import NOON, ROOT, judged, rooted
from sqlite_utils import Database

from catalog import search
from catalog.errors import CatalogUnusable, NotInCatalog
from catalog.prompt_index import IndexSpec
from catalog.record import Gone, RootSpec
from catalog.store import Store


@pytest.fixture(scope="module")
def catalog() -> Iterator[Store]:
    """Return a catalog of a few skills that differ in where a word stands."""
    store = rooted(Store(Database(sqlite3.connect(":memory:", isolation_level=None))))
    store.apply([
        judged("invoice", "Takes a bill, gives its sum."),
        judged("billing", "Reads an invoice as PDF and gives its fields."),
        judged("archive", "Stores documents.", body="# Steps\n\nOne per invoice.\n"),
        judged("会议纪要", "把会议录音的文字稿整理成纪要。用于会议之后。"),
        judged("gone", "Reads an invoice, too."),
        judged("tagged", "Nothing to see.", tags=("spreadsheet", "表格")),
        judged("hidden", "Only people start it.", model_invocable=False),
    ], trigger="command", at=NOON)
    store.apply([Gone(ROOT, "gone")], trigger="command", at=NOON)
    yield store
    store.close()


def names(store: Store, words: str) -> list[str]:
    """Return the names that a search finds, best first."""
    return [hit.name for hit in search.find(store.db, words)]


@pytest.mark.parametrize(("words", "found"), [
    ("invoice", ["invoice", "billing", "archive"]),  # name before description before body
    ("invo", ["invoice", "billing", "archive"]),  # by its beginning
    ("invoices", ["invoice", "billing", "archive"]),  # by its stem
    ("invoice pdf", ["billing"]),  # all words
    ("纪要", ["会议纪要"]),  # two characters, inside a longer run
    ("会议录音的文字稿", ["会议纪要"]),  # longer than any stored piece
    ("纪要 会议", ["会议纪要"]),
    ("PDF纪要", []),  # both halves must match
    ("spreadsheet", ["tagged"]),
    ("表格", ["tagged"]),
    ("run.py invoice", ["invoice", "billing", "archive"]),  # by file name
    ("nowhere", []),
    ("", []),
    ("--- ***", []),
])
def test_search_finds(catalog: Store, words: str, found: list[str]) -> None:
    """English by beginnings and stems, Chinese by any two characters, removed skills never."""
    assert names(catalog, words) == found


def test_a_snippet_marks_the_words_that_matched(catalog: Store) -> None:
    """The hit shows where the word stands, in the description or else in the body."""
    snippets = {hit.name: hit.snippet for hit in search.find(catalog.db, "invoice")}
    assert "an [invoice] as PDF" in snippets["billing"]
    assert "per [invoice]" in snippets["archive"]


@given(words=st.text(max_size=40) | st.sampled_from(
    ['"', "AND", "NOT a", "a OR", "name:", "a* b^", "NEAR(a b)", "()", "grams : x", "\x00", "_"]))
def test_nothing_that_is_typed_is_a_syntax_error(catalog: Store, words: str) -> None:
    """Operators, quotes and brackets are words or nothing."""
    search.find(catalog.db, words)


def test_an_index_ranks_by_level_priority_and_name() -> None:
    """Levels first, then declared priority, then names by code point."""
    store = rooted(Store(Database(sqlite3.connect(":memory:", isolation_level=None))),
                   RootSpec(ROOT), RootSpec("/company", level="enterprise"))
    store.apply([
        judged("zebra", root="/company", level="enterprise"), judged("b"), judged("a"),
        judged("urgent", priority=0.9), judged("Ä"), judged("low", priority=0.1),
        judged("hidden", model_invocable=False),
    ], trigger="command", at=NOON)
    ranked = [candidate.name for candidate in search.ranked(store.db, IndexSpec(), 10)]
    assert ranked == ["zebra", "urgent", "low", "a", "b", "Ä"]
    store.close()


@pytest.mark.parametrize(("spec", "names"), [
    (IndexSpec(names=("invoice", "hidden")), ["invoice"]),
    (IndexSpec(tags=("表格",)), ["tagged"]),
    (IndexSpec(levels=("enterprise",)), []),
])
def test_a_filter_lets_in_what_it_names(catalog: Store, spec: IndexSpec, names: list[str]) -> None:
    """Names, tags and levels filter; hidden skills stay out even when named."""
    assert [candidate.name for candidate in search.ranked(catalog.db, spec, 10)] == names
    assert search.count_indexable(catalog.db, spec) == len(names)


def test_the_report_of_an_index_names_what_it_has_no_room_for(catalog: Store) -> None:
    """Counts and names of the skills left out, most important first."""
    spec = IndexSpec(budget_chars=200)
    index = search.build_index(catalog.db, spec)
    report = search.index_report(catalog.db, spec, index)
    assert (report["full"], report["left_out"]) == (1, 4)
    assert report["left_out_names"] == ["billing", "invoice", "tagged", "会议纪要"]


def test_an_unknown_index_is_answered_with_those_there_are(catalog: Store) -> None:
    """The error names the indexes that exist."""
    catalog.set_indexes([IndexSpec("default"), IndexSpec("small")])
    with pytest.raises(NotInCatalog, match=r"'big'; there is default, small"):
        search.index_spec(catalog.db, "big")


def test_settings_of_an_index_survive_the_catalog(catalog: Store) -> None:
    """What is stored of an index is all of it."""
    spec = IndexSpec("mine", budget_chars=5, levels=("plugin",), tags=("t",), names=("n",),
                     featured=("f",), location_base="https://example.org/skills")
    catalog.set_indexes([spec])
    assert search.index_spec(catalog.db, "mine") == spec


def test_a_missing_catalog_says_how_to_make_one(tmp_path: Path) -> None:
    """There is no traceback for a first question asked too early."""
    with pytest.raises(NotInCatalog, match="skilldrop scan"):
        search.open_catalog(tmp_path / "catalog.db")


def test_a_file_that_is_no_catalog_is_said_to_be_none(tmp_path: Path) -> None:
    """A foreign file gives one sentence."""
    (tmp_path / "catalog.db").write_text("something else entirely")
    with pytest.raises(CatalogUnusable, match="cannot be read"):
        search.open_catalog(tmp_path / "catalog.db")


def test_a_reader_sees_what_the_writer_has_committed(tmp_path: Path) -> None:
    """Reading beside the writer needs no lock and writes nothing."""
    store = rooted(Store.open(tmp_path / "catalog.db"))
    db = search.open_catalog(tmp_path / "catalog.db")
    store.apply([judged("a")], trigger="command", at=NOON)
    assert search.status(db)["counts"]["active"] == 1
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("DELETE FROM skills")
    db.conn.close()
    store.close()
