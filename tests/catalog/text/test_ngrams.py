"""Chinese, Japanese and Korean words as search terms."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.text import ngrams


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("plain English", ""),
        ("PDF处理", "处 处理 理"),
        ("会议纪要整", "会 会议 会议纪 会议纪要 议 议纪 议纪要 议纪要整 纪 纪要 纪要整 要 要整 整"),
        ("カナ, 한글", "カ カナ ナ 한 한글 글"),
    ],
)
def test_runs_become_their_short_pieces(text: str, terms: str) -> None:
    """Every piece of one to four characters, once, and nothing of other scripts."""
    assert ngrams.terms(text) == terms


@given(st.text("会议纪要表格𠀀", min_size=1, max_size=12), st.data())
def test_any_part_of_a_run_is_found(run: str, data: st.DataObject) -> None:
    """The pieces of a query are among the stored terms of the matching text."""
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    assert set(ngrams.pieces(run[start:end])) <= set(ngrams.terms(run).split())
