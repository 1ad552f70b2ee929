"""Visible forms of untrusted text."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.text.suggestions import few, shown
from catalog.text.visible import (
    in_attribute,
    in_code,
    in_markdown,
    in_xml,
    one_line,
    printable,
    quoted,
    visible,
    visible_lines,
    visible_prose,
)


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


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("two\nlines\tand  spaces ", "two lines and spaces"),
        ("a\x00b\x1bc", "abc"),
        ("right\u202eto left\u2066", "rightto left"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("tag\U000e0041\U000e007f", "tag"),
        ("line\u2028separator\x85next", "line separator next"),
        ("中文，标点。", "中文，标点。"),
        ("é and 👍🏽", "é and 👍🏽"),
        ("plain", "plain"),
    ],
)
def test_one_line_keeps_what_people_see(text: str, line: str) -> None:
    """Control, bidi and invisible characters are removed; words, marks and emoji stay."""
    assert one_line(text) == line


@given(st.text() | st.sampled_from(['"><x y="', "</a>", "]]>", "&amp;", "<!--", "&#x27;'"]))
def test_xml_reads_back_as_it_was(text: str) -> None:
    """No text closes its element or ends its quotes."""
    read = ET.fromstring(f'<a b="{in_attribute(text)}">{in_xml(text)}</a>')
    assert (read.text or "", read.get("b")) == (one_line(text), one_line(text))


@given(st.text() | st.text(alphabet="`* _[]<>&\\a"))
def test_markdown_has_no_mark_that_is_not_escaped(text: str) -> None:
    """It starts no emphasis, code, link or tag; unescaped, it is the original line."""
    escaped = in_markdown(text)
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]]", escaped.replace("\\\\", ""))
    assert "<" not in escaped
    plain = re.sub(r"\\([\\`*_\[\]])", r"\1", escaped)
    assert plain.replace("&lt;", "<").replace("&amp;", "&") == one_line(text)


@given(st.text(alphabet="` a/"))
def test_no_backtick_ends_a_code_span(text: str) -> None:
    """The fence is longer than every run of backticks inside."""
    span = in_code(text)
    fence = re.match("`+", span)
    assert fence
    if line := one_line(text):
        inside = span[len(fence[0]) : -len(fence[0])]
        assert line in inside
        assert fence[0] not in re.findall("`+", inside)


def test_a_stack_of_accents_stays_in_its_line() -> None:
    """After the third on a letter they are shown by their codes; words that need some keep them."""
    acute = "\u0301"
    assert visible_prose("a" + 4 * acute + "b") == "a" + 3 * acute + "[U+0301]b"
    assert visible_prose("\u0e2a" + 5 * "\u0e47") == "\u0e2a" + 3 * "\u0e47" + 2 * "[U+0E47]"
    for word in ("Vie\u0302\u0323t", "e\u0301" * 9, "\u05d1\u05bc\u05b0\u0591\u05bd"):
        assert visible_prose(word) == word
