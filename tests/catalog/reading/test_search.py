"""Searches in a catalog."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.database import connection
from catalog.model.change import Removal
from catalog.model.errors import CatalogUnusable, NotInCatalog
from catalog.reading import search
from catalog.reading import status as reading_status
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged, rooted


@pytest.fixture(scope="module")
def catalog() -> Iterator[Store]:
    """Return a catalog of a few skills with a word in different fields."""
    store = rooted(Store.in_memory())
    store.apply(
        [
            judged("invoice", "Takes a bill, gives its sum."),
            judged("billing", "Reads an invoice as PDF and gives its fields."),
            judged("archive", "Stores documents.", body="# Steps\n\nOne per invoice.\n"),
            judged("会议纪要", "把会议录音的文字稿整理成纪要。用于会议之后。"),
            judged("gone", "Reads an invoice, too."),
            judged("tagged", "Nothing to see.", tags=("spreadsheet", "表格")),
        ],
        trigger="command",
        at=NOON,
    )
    store.apply([Removal(ROOT, "gone")], trigger="command", at=NOON)
    yield store
    store.close()


def names(store: Store, words: str) -> list[str]:
    """Return the names that a search finds, best first."""
    return [hit.name for hit in search.find(store.db, words)]


@pytest.mark.parametrize(
    ("words", "found"),
    [
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
    ],
)
def test_search_finds(catalog: Store, words: str, found: list[str]) -> None:
    """English matches by prefix and stem, Chinese by any two characters, removed skills never."""
    assert names(catalog, words) == found


def test_a_snippet_marks_the_words_that_matched(catalog: Store) -> None:
    """The snippet is from the description, or else from the body."""
    snippets = {hit.name: hit.snippet for hit in search.find(catalog.db, "invoice")}
    assert "an [invoice] as PDF" in snippets["billing"]
    assert "per [invoice]" in snippets["archive"]


@given(
    words=st.text(max_size=40)
    | st.sampled_from(
        ['"', "AND", "NOT a", "a OR", "name:", "a* b^", "NEAR(a b)", "()", "grams : x", "\x00", "_"]
    )
)
def test_no_input_is_a_syntax_error(catalog: Store, words: str) -> None:
    """Operators, quotes and brackets are words or ignored."""
    search.find(catalog.db, words)


@pytest.mark.parametrize(
    ("words", "kept", "said"),
    [
        ("one two", "one two", ""),
        ("a " * 32, "a " * 32, ""),
        (
            "a " * 500,
            ("a " * 32).strip(),
            "Only the first 32 words were used; 500 were given.",
        ),
        (f"invoice {'x' * 600}", "invoice", "Only the first word was used; 2 were given."),
        ("x" * 600, "x" * 500, "Only the first 500 characters were used."),
        ("?" * 600, "?" * 500, ""),
    ],
)
def test_a_query_has_a_bounded_number_of_words(words: str, kept: str, said: str) -> None:
    """The first words are used, and a sentence reports the limit."""
    assert search.bounded(words) == (kept, said)


def test_words_beyond_the_bound_do_not_count(catalog: Store) -> None:
    """Each word costs a lookup in the index, and a thousand would take a minute."""
    assert names(catalog, "invoice " * 32 + "nowhere") == names(catalog, "invoice")
    assert search.match_expression("invoice pdf invoice").count("invoice") == 1
    statements: list[str] = []
    catalog.db.conn.set_trace_callback(statements.append)
    search.find(catalog.db, " ".join(f"w{number}" for number in range(5000)))
    catalog.db.conn.set_trace_callback(None)
    assert max(map(len, statements)) < 5000


def test_the_error_for_a_missing_catalog_names_the_commands_that_make_one(tmp_path: Path) -> None:
    """A search before the first scan gives no traceback."""
    with pytest.raises(NotInCatalog, match="skilldrop scan"):
        connection.open_catalog(tmp_path / "catalog.db")


def test_a_file_that_is_no_catalog_is_reported(tmp_path: Path) -> None:
    """A foreign file gives one sentence."""
    (tmp_path / "catalog.db").write_text("something else entirely")
    with pytest.raises(CatalogUnusable, match="cannot be read"):
        connection.open_catalog(tmp_path / "catalog.db")


def test_a_reader_sees_what_the_writer_has_committed(tmp_path: Path) -> None:
    """Reading beside the writer needs no lock and writes nothing."""
    store = rooted(Store.open(tmp_path / "catalog.db"))
    db = connection.open_catalog(tmp_path / "catalog.db")
    store.apply([judged("a")], trigger="command", at=NOON)
    assert reading_status.load(db)["counts"]["active"] == 1
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        db.execute("DELETE FROM skills")
    db.conn.close()
    store.close()
