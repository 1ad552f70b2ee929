"""Width of text on a terminal, and the places at which it is cut."""

import sys
import time

import pytest

from pipeline.cli.output import terminal


def test_progress_is_shown_after_a_second_and_cleared_for_output(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short work shows nothing; long work counts at most ten times a second on one line."""
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with terminal.progress("skills") as progress:
        for count, moment in ((1, 100.9), (2, 101.1), (3, 101.15), (4_000, 101.3)):
            now = moment
            progress(count)
        assert capfd.readouterr().err == "\r2 skills …\r4,000 skills …"
        progress.clear()
        progress.clear()
        assert capfd.readouterr().err == "\r\033[K"
        now = 102.0
        progress(5_000)
    assert capfd.readouterr().err == "\r5,000 skills …\r\033[K"


def test_progress_is_for_terminals(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log file is not filled with counts."""
    moments = iter(range(100))
    monkeypatch.setattr(time, "monotonic", lambda: float(next(moments)) * 10)
    with terminal.progress("skills") as progress:
        progress(1)
        progress(2)
    assert capfd.readouterr().err == ""


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
    assert terminal.width(text) == filled


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
    assert terminal.cut(text, room) == cut
