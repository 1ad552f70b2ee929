"""Chinese, Japanese and Korean words as search terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.text import search_terms
from catalog.text.search_terms import MOST_CHARACTERS, characters_of, phrases_of, terms_of


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("plain English", ""),
        ("PDF处理 of tables", "PDF 处理 理"),  # a word beside CJK characters is no word for SQLite
        ("ﾃﾞｰﾀとＣＳＶ", "デー ータ タと と CSV"),  # half-width and full-width forms
        ("会议纪要整", "会议 议纪 纪要 要整 整"),
        ("カナ, 한글", "カナ ナ 한글 글"),
    ],
)
def test_runs_become_their_short_pieces(text: str, terms: str) -> None:
    """Every pair in its order, the last character, and words beside them, but no other words."""
    assert search_terms.pairs_of(text) == terms


@given(st.text("会议纪要表格𠀀", min_size=1, max_size=12), st.data())
def test_any_part_of_a_run_is_found(run: str, data: st.DataObject) -> None:
    """Each piece of a query is a stored term of the matching text, or begins one."""
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    terms = search_terms.pairs_of(run).split()
    for piece in search_terms.pieces(run[start:end]):
        assert any(term.startswith(piece) for term in terms)


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("How do I merge the PDF files?", ["merge", "pdf", "files"]),  # no stop words
        ("I'm looking for specific assistance with detailed invoices.", ["invoices"]),
        ("what is this", ["what", "is", "this"]),  # unless there is nothing else
        ("web_scraper Web", ["web", "scraper"]),  # each once, in lower case
        ("合并PDF文件", ["合并", "pdf", "文件"]),  # scripts side by side
        ("ＰＤＦ　ﾃﾞｰﾀ", ["pdf", "デー", "ータ"]),  # full-width and half-width forms
        ("如何合并", ["何合", "合并"]),  # no pairs that only ask
        ("我的文件的", ["的文", "文件"]),  # nor those that end in a particle
        ("_ ?!", []),
    ],
)
def test_words_and_pairs_of_a_query_are_its_terms(query: str, terms: list[str]) -> None:
    """Each query has these terms in this order."""
    assert [term.text for term in terms_of(query)] == terms


def test_a_long_query_ends_with_a_whole_word() -> None:
    """The part beyond the limit is not read, and the word at the limit is not cut."""
    query = "spreadsheet " * MOST_CHARACTERS
    assert [term.text for term in terms_of(query)] == ["spreadsheet"]


def test_neighbouring_words_are_phrases() -> None:
    """Only two words with nothing between them, not even a stop word, are a phrase."""
    assert phrases_of("Review the pull request of my data pipeline, data pipeline 数据 分析") == [
        "pull request",
        "data pipeline",
        "pipeline data",
    ]


def test_characters_of_a_query_say_something() -> None:
    """Each CJK character counts once, without particles, pronouns and words of other scripts."""
    assert characters_of("我的PDF文件的文字") == ["文", "件", "字"]
