"""Shorter forms of a text."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.text import truncate
from catalog.text.truncate import shorten


@pytest.mark.parametrize(
    ("text", "limit", "cut"),
    [
        pytest.param("It fits.", 8, "It fits.", id="whole"),
        pytest.param("Reads a file. Then it writes one.", 25, "Reads a file. …", id="sentence"),
        pytest.param("Reads a file and writes another one.", 20, "Reads a file and…", id="word"),
        pytest.param(
            "Reads files, tables and more of it.", 14, "Reads files…", id="no loose comma"
        ),
        pytest.param(
            "Is it? He asked (really!) for it. More.",
            36,
            "Is it? He asked (really!) for it. …",
            id="question and bracket",
        ),
        pytest.param(
            "Takes forms (e.g. PDF) and fills them in for you.",
            32,
            "Takes forms (e.g. PDF) and…",
            id="an abbreviation ends nothing",
        ),
        pytest.param(
            "A. But the second sentence is long.",
            20,
            "A. But the second…",
            id="a sentence that is too short to say anything",
        ),
        pytest.param(
            "读取表格并汇总数据。然后写出报告文件。",
            12,
            "读取表格并汇总数据。…",
            id="Chinese sentence",
        ),
        pytest.param(
            "读取表格并汇总数据，然后写出报告文件",
            11,
            "读取表格并汇总数据…",
            id="Chinese words, no loose comma",
        ),
        pytest.param("读取「表格」文件并汇总", 6, "读取「表…", id="no closing sign alone"),
        pytest.param("Unbreakableunbreakable", 10, "Unbreakab…", id="one long word"),
        pytest.param("e\u0301" * 9, 6, "e\u0301e\u0301…", id="marks stay with their letter"),
        pytest.param("anything", 1, "…", id="room for the ellipsis"),
        pytest.param("anything", 0, "", id="no room"),
    ],
)
def test_shorten(text: str, limit: int, cut: str) -> None:
    """A sentence end if it uses half of the room, else a word end, else anywhere."""
    assert shorten(text, limit) == cut


TEXTS = st.text(alphabet="ab. ,。！字「」e\u0301👍🏽()", max_size=60) | st.text(max_size=60)


@given(TEXTS, st.integers(0, 70))
def test_a_cut_keeps_to_its_limit_and_to_the_text(text: str, limit: int) -> None:
    """The result is the text, or its beginning and an ellipsis, and never too long."""
    cut = shorten(text, limit)
    assert len(cut) <= limit or cut == text
    if cut != text and cut:
        assert text.startswith(cut.removesuffix("…").removesuffix(" "))
        assert cut.endswith("…")


@given(st.text(alphabet="ae\u0301\U0001f3fd 字", max_size=40), st.integers(2, 30))
def test_no_composed_character_is_cut(text: str, limit: int) -> None:
    """No combining mark follows the cut."""
    cut = shorten(text, limit)
    kept = cut.removesuffix("…")
    rest = text[len(kept) :]
    if cut != text and kept:
        assert not _is_mark(rest[0])


def _is_mark(char: str) -> bool:
    return unicodedata.category(char) == "Mn" or char == "\U0001f3fd"


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Use this skill when the user wants to fill PDF forms.", "fill PDF forms."),
        ("This skill should be used when the user asks to bake.", "bake."),
        ("Use when committing.", "committing."),
        ("Signs. Use when asked to sign.", "Signs. Use when asked to sign."),
        ("The kiln tool helps to bake.", "The kiln tool helps to bake."),
        ("Do not use this skill for bread.", "Do not use this skill for bread."),
        ("当用户想要提取表格时使用此技能", "提取表格时使用此技能"),
        ("本技能用于生成周报。", "生成周报。"),
        ("Reuse this for that.", "Reuse this for that."),
    ],
)
def test_only_a_stock_opening_may_be_skipped(text: str, rest: str) -> None:
    """It stands at the start, and has no word of the author's own."""
    assert text[truncate.opening(text) :] == rest


@pytest.mark.parametrize(
    "description",
    [
        "",
        "|",
        "| Use when this capability is needed.",
        "A skill for PDF.",
        "TODO",
        "Helps users with pdf tasks.",
        "Helps with PDFs.",
        "Analyzes things and produces stuff for the task at hand. Use when needed by anyone.",
        "Use this skill when the user wants to",
        "当用户需要时，使用此技能",
    ],
)
def test_a_description_without_a_word_of_its_own_says_nothing(description: str) -> None:
    """Filler, stop words, words of the name and words that fit any skill are none."""
    assert truncate.says_nothing(description, "pdf")


@pytest.mark.parametrize(
    "description", ["Fills forms.", "Use when baking.", "填写表格", "pdf to docx", "Sorts files."]
)
def test_a_description_with_a_word_of_its_own_says_something(description: str) -> None:
    """In any language."""
    assert not truncate.says_nothing(description, "pdf")
