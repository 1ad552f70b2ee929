"""Visible forms of untrusted text."""

from collections.abc import Callable

import pytest

from catalog.text.display import visible, visible_lines, visible_prose
from catalog.text.quoting import printable, quoted
from catalog.text.suggestions import few, shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 会议 😀", "plain é 会议 😀"),
        ("a\u202eb", "a[U+202E]b"),
        ("\x1b[31mred", "[U+001B][31mred"),
        ("tab\there\r\n", "tab[U+0009]here[U+000D][U+000A]"),
        ("zero\u200bwidth\ufeff", "zero[U+200B]width[U+FEFF]"),
        ("tag\U000e0041", "tag[U+E0041]"),
        ("blank\u3164\u2800", "blank[U+3164][U+2800]"),
        ("half \udce9", "half [U+DCE9]"),
    ],
)
def test_invisible_characters_are_shown_by_their_codes(text: str, shown: str) -> None:
    """A terminal gets no control sequences, and a reader misses nothing."""
    assert visible(text) == shown


HIDDEN = "a\x1b\u202e\u200b\u2066\ufeff\U000e0041\u3164\u2800\u2028\x9b\ud800b"
SEEN = "a[U+001B][U+202E][U+200B][U+2066][U+FEFF][U+E0041][U+3164][U+2800][U+2028][U+009B][U+D800]b"


@pytest.mark.parametrize(
    ("form", "text"),
    [
        (visible, SEEN),
        (visible_lines, SEEN),
        (visible_prose, SEEN),
        (lambda text: printable(text, 100), SEEN),
        (quoted, f"“{SEEN}”"),
        (shown, f"'{SEEN}'"),
        (lambda text: few([text]), SEEN),
    ],
    ids=["visible", "visible lines", "visible prose", "printable", "quoted", "shown", "few"],
)
def test_every_form_shows_every_hidden_character_alike(
    form: Callable[[str], str], text: str
) -> None:
    """Control, bidi, tag, blank and half characters have one code in every output."""
    assert form(HIDDEN) == text


def test_line_ends_and_tabs_of_a_text_stay() -> None:
    """A carriage return within a line could overwrite it."""
    assert visible_lines("a\tb\r\nc\rd\n") == "a\tb\nc[U+000D]d"


def test_a_page_keeps_the_parts_of_an_emoji() -> None:
    """A terminal shows them by their codes, as it may not join them."""
    family = "👨\u200d👩"
    assert (visible_prose(family), visible(family)) == (family, "👨[U+200D]👩")
