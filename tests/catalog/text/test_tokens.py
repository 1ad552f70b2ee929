import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.text.tokens import estimate


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("a", 1, id="a started token is a token"),
        pytest.param("four" * 25, 25, id="four characters a token"),
        pytest.param("技能目录", 4, id="each Han character"),
        pytest.param("スキル", 3, id="each kana"),
        pytest.param("스킬", 2, id="each Hangul syllable"),
        pytest.param("，。「」", 4, id="ideographic and full-width punctuation"),
        pytest.param("𠀀", 1, id="Han beyond the basic plane"),
        pytest.param("éé—’", 1, id="accents, dashes and quotes are not wide"),
        pytest.param("Read 文件 now", 2 + 3, id="both in one text"),
        pytest.param("\udce9", 1, id="a lone surrogate is no error"),
    ],
)
def test_estimate(text: str, tokens: int) -> None:
    """Each character from U+3000 up is one token; four others are one."""
    assert estimate(text) == tokens


@given(st.text())
def test_estimate_agrees_with_counting_characters_one_by_one(text: str) -> None:
    """Counting bytes gives the same number as counting characters."""
    wide = sum(character >= "\u3000" for character in text)
    assert estimate(text) == wide + (len(text) - wide + 3) // 4
