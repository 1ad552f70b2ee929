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
            judged(
                "会议纪要",
                "把会议录音的文字稿整理成纪要。用于会议之后。",
                body="# 步骤\n\n写下结论。\n",
            ),
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
    ("query", "found"),
    [
        ("invoice", ["invoice", "billing", "archive"]),  # name before description before body
        ("Invoice", ["invoice", "billing", "archive"]),  # in any case
        ("invoices", ["invoice", "billing", "archive"]),  # by its stem
        ("pdf of an invoice", ["billing", "invoice", "archive"]),  # more and rarer words first
        ("Please can you get me the sum of this bill?", ["invoice", "billing"]),  # a sentence
        ("invo", ["invoice", "billing", "archive"]),  # the beginning of a word
        ("invoise", ["invoice", "billing", "archive"]),  # a misspelling
        ("纪要", ["会议纪要"]),  # two characters, inside a longer run
        ("会议录音的文字稿", ["会议纪要"]),
        ("请帮我整理录音", ["会议纪要"]),  # a sentence
        ("要", ["会议纪要"]),  # the end of a word
        ("PDF纪要", ["会议纪要", "billing"]),
        ("结论", ["会议纪要"]),  # only in its text
        ("spreadsheet", ["tagged"]),
        ("表格", ["tagged"]),
        ("run.py", ["invoice", "billing", "archive", "会议纪要", "tagged"]),  # by file name
        ("nowhere", []),
        ("", []),
        ("--- ***", []),
    ],
)
def test_search_finds(catalog: Store, query: str, found: list[str]) -> None:
    """Any word may match, by its stem or pairs of CJK characters; removed skills never do."""
    assert set(names(catalog, query)) == set(found)
    assert query in ("run.py", "PDF纪要") or names(catalog, query)[:1] == found[:1]


def test_a_skill_whose_name_is_the_query_comes_first(catalog: Store) -> None:
    """Whatever its text; case and punctuation do not matter."""
    store = rooted(Store.in_memory())
    store.apply(
        [
            judged("sum-up", "Adds numbers."),
            judged("other", "Sum up, sum up, sum up.", body="# Sum up\n\nSum up.\n" * 9),
        ],
        trigger="command",
        at=NOON,
    )
    assert names(store, "Sum up") == names(store, "sum-up") == ["sum-up", "other"]
    store.close()


def test_a_query_of_stop_words_finds_skills_with_these_words(catalog: Store) -> None:
    """They count only if there is nothing else."""
    assert names(catalog, "nothing to") == ["tagged"]
    assert names(catalog, "nothing to invoice") == ["invoice", "billing", "archive"]


def test_unknown_words_are_reported_with_the_words_used_instead(catalog: Store) -> None:
    """The other words still find skills."""
    results = search.search(catalog.db, "spreadsheat for xyzzy")
    assert [hit.name for hit in results.hits] == ["tagged"]
    assert results.note == (
        "No skill contains 'spreadsheat'; searched for 'spreadsheet'. No skill contains 'xyzzy'."
    )


def test_a_hit_has_its_words_version_and_score(catalog: Store) -> None:
    """So an agent can choose."""
    hits = search.search(catalog.db, "Which fields has the PDF invoice?").hits
    assert hits[0].matched == ("fields", "pdf", "invoice")
    assert hits[0].score > hits[1].score > 0
    version = catalog.db.execute("SELECT version FROM versions WHERE skill_id = 'billing'")
    assert (hits[0].version,) == version.fetchone()


def test_further_results_follow_the_first_ones(catalog: Store) -> None:
    """In one order."""
    every = names(catalog, "invoice")
    pages = [search.search(catalog.db, "invoice", 1, offset=number).hits for number in range(4)]
    assert [hit.name for page in pages for hit in page] == every


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


def test_a_long_query_costs_no_more_than_its_rarest_words(catalog: Store) -> None:
    """A paragraph of any length is neither an error nor slow."""
    paragraph = "invoice " + " ".join(f"steps{number} run.py" for number in range(5000))
    statements: list[str] = []
    catalog.db.conn.set_trace_callback(statements.append)
    assert "invoice" in names(catalog, paragraph)
    catalog.db.conn.set_trace_callback(None)
    assert max(map(len, statements)) < 5000
    assert sum(not statement.startswith("--") for statement in statements) < 500


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
