"""Untrusted text in a prompt."""

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.text.sanitize import in_attribute, in_code, in_markdown, in_xml, one_line


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
