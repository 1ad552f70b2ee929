"""Chinese, Japanese and Korean words as search terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.text import ngrams


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
    assert ngrams.terms(text) == terms


@given(st.text("会议纪要表格𠀀", min_size=1, max_size=12), st.data())
def test_any_part_of_a_run_is_found(run: str, data: st.DataObject) -> None:
    """Each piece of a query is a stored term of the matching text, or begins one."""
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    terms = ngrams.terms(run).split()
    for piece in ngrams.pieces(run[start:end]):
        assert any(term.startswith(piece) for term in terms)
