import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from catalog.text.tokens import HUNDREDTHS, estimate, estimate_long, weight

TEXT = st.text(
    st.one_of(st.sampled_from("aAbB7- /.\n\t"), st.sampled_from("éя技スक🚀\udce9"), st.characters())
)
"""Texts with long words, runs and line breaks, more of them than in st.text()."""


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("a", 1, id="a letter"),
        pytest.param("Fill the form", 3, id="a word with the space after it"),
        pytest.param("responsibilities", 2, id="eight letters of a long word"),
        pytest.param("misunderstandings", 3, id="the rest of a long word"),
        pytest.param("getUserName", 3, id="each word in camel case"),
        pytest.param("GITHUB", 2, id="three capitals"),
        pytest.param("2026-11", 4, id="two digits, and the mark between"),
        pytest.param("</name>\n", 3, id="marks that follow each other, and a line break after"),
        pytest.param("/pdf-forms/current/SKILL.md", 11, id="each mark between words"),
        pytest.param("a\n\n        b", 5, id="each line break, and an indent"),
        pytest.param("a\r\nb", 3, id="the line break of Windows"),
    ],
)
def test_each_piece_of_ascii_text_is_a_token(text: str, tokens: int) -> None:
    """Words and their parts, numbers, runs of marks and of spaces, and line breaks count."""
    assert estimate(text) == tokens


@pytest.mark.parametrize(
    ("text", "hundredths"),
    [
        pytest.param("é", 80, id="Latin with accents"),
        pytest.param("αβ", 80, id="Greek"),
        pytest.param("файл", 80, id="Cyrillic"),
        pytest.param("שם", 90, id="Hebrew"),
        pytest.param("ملف", 90, id="Arabic"),
        pytest.param("फ", 50, id="Devanagari"),
        pytest.param("ก", 50, id="Thai"),
        pytest.param("ễ", 50, id="Vietnamese"),
        pytest.param("—’…", 300, id="dashes and quotes"),
        pytest.param("スキル、", 240, id="kana and its punctuation"),
        pytest.param("技能", 170, id="Han"),
        pytest.param("스킬", 100, id="Hangul"),
        pytest.param("，（", 170, id="full-width forms"),
        pytest.param("🚀", 200, id="emoji"),
        pytest.param("𠀀", 200, id="Han beyond the basic plane"),
        pytest.param(
            "Read 文件 now",
            100 + 170 + 100 + 100,
            id="both; a space after a wide character counts too",
        ),
        pytest.param("\udce9", 50, id="a lone surrogate is no error"),
    ],
)
def test_characters_outside_ascii_weigh_by_script(text: str, hundredths: int) -> None:
    """A character of another script weighs a share of a token."""
    assert weight(text) == hundredths


@given(TEXT, TEXT)
def test_a_text_weighs_no_more_than_its_parts(first: str, second: str) -> None:
    """Parts weighed apart never come to less than the text composed of them."""
    assert weight(first + second) <= weight(first) + weight(second)


@given(TEXT, TEXT)
@example("<skill>", "  two")
def test_whole_lines_weigh_the_same_alone_and_together(first: str, second: str) -> None:
    """The weight of a text is the sum of the weights of its lines."""
    assert weight(first + "\n" + second) == weight(first + "\n") + weight(second)


@given(TEXT, TEXT)
def test_a_longer_text_weighs_no_less(first: str, second: str) -> None:
    """Text added at an end never makes a text lighter."""
    assert weight(first + second) >= max(weight(first), weight(second))


@given(TEXT)
def test_estimate_is_the_weight_in_whole_tokens_rounded_up(text: str) -> None:
    """A started token is a token."""
    assert 0 <= estimate(text) * HUNDREDTHS - weight(text) < HUNDREDTHS


def test_a_long_text_is_estimated_from_parts_of_all_of_it() -> None:
    """Close to the estimate of the whole, even where its end is another script."""
    text = "Reads a table of values and writes it. " * 500
    assert estimate_long(text) == pytest.approx(estimate(text), rel=0.03)
    text += "表格" * 10_000
    assert estimate_long(text) == pytest.approx(estimate(text), rel=0.1)
    assert estimate_long(text[:4_000]) == estimate(text[:4_000])


@given(st.text("az B1;.\n\t\x00é—用😀", max_size=60), st.sampled_from([1, 2, 150]))
@example("a\t", 150)
@example("用 ", 150)
@example("aB", 150)
def test_a_token_has_a_byte_or_more(text: str, times: int) -> None:
    """No text, short or sampled, is estimated at more tokens than it has bytes."""
    assert estimate_long(text * times) <= len((text * times).encode())
