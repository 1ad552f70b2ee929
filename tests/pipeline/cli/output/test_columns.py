"""Width of text on a terminal, and the places at which it is cut."""

import pytest

from pipeline.cli.output import columns


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("", 0),
        ("abc", 3),
        ("报告", 4),
        ("ﾊﾝ", 2),
        ("e\u0301", 1),
        ("\u0e01\u0e47", 1),
        ("\u2764\ufe0f", 2),
        ("👨\u200d👩\u200d👧", 2),
    ],
)
def test_the_width_of_a_text_is_its_columns_on_a_terminal(text: str, filled: int) -> None:
    """Combining marks and joined emoji take the columns of one character."""
    assert columns.width(text) == filled


@pytest.mark.parametrize(
    ("text", "room", "cut"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("报告", 4, "报告"),
        ("报告报", 4, "报…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("abc", 0, "…"),
    ],
)
def test_a_cut_text_ends_in_an_ellipsis(text: str, room: int, cut: str) -> None:
    """Half a wide character is left out."""
    assert columns.cut(text, room) == cut
