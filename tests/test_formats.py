"""Text that goes into a prompt."""

import pytest

from catalog.formats import one_line


@pytest.mark.parametrize(("text", "line"), [
    ("two\nlines\tand  spaces ", "two lines and spaces"),
    ("a\x00b\x1bc", "abc"),
    ("right\u202eto left\u2066", "rightto left"),
    ("zero\u200bwidth\ufeff", "zerowidth"),
    ("tag\U000e0041\U000e007f", "tag"),
    ("line\u2028separator\x85next", "line separator next"),
    ("中文，标点。", "中文，标点。"),
    ("é and 👍🏽", "é and 👍🏽"),
    ("plain", "plain"),
])
def test_one_line_keeps_what_people_see(text: str, line: str) -> None:
    """Control, bidi and invisible characters go; words, marks and emoji stay."""
    assert one_line(text) == line
