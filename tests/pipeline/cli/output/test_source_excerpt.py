import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cli.output.source_excerpt import WIDTH, excerpt


@pytest.mark.parametrize(
    ("line", "column", "below"),
    [
        ("name: a", 7, "a"),
        ("name: a", 1, "n"),
        ("会议: x", 5, "x"),
        ("e\u0301: x", 5, "x"),
        ("\u202e\t: x", 5, "x"),
        ("x" * 500 + "!" + "x" * 500, 501, "!"),
        ("会" * 500 + "!" + "会" * 500, 501, "!"),
    ],
)
def test_the_caret_is_below_its_column(line: str, column: int, below: str) -> None:
    """Wide, combining and invisible characters, or a cut, do not move it."""
    shown, caret = excerpt(line, column)
    assert caret is not None
    assert caret.strip() == "^"
    columns = "".join(_filled(shown))
    assert columns[caret.index("^")] == below


def _filled(shown: str) -> list[str]:
    """Return the text in each column of a terminal."""
    return [c * (2 if c >= "\u4e00" else 1) for c in shown if c != "\u0301"]


@pytest.mark.parametrize("column", [None, 0, 9, 1_000])
def test_without_a_place_in_the_line_there_is_no_caret(column: int | None) -> None:
    """The line is shown from its start."""
    assert excerpt("name: a", column) == ("name: a", None)


def test_a_place_may_be_the_end_of_a_line() -> None:
    """A missing character is missing after the last one."""
    assert excerpt("name: a", 8) == ("name: a", "       ^")


def test_a_long_line_is_cut_on_both_sides() -> None:
    """Marks show the cuts, and the place of the finding stays visible."""
    shown, caret = excerpt("a" * 400 + "here" + "b" * 400, 401)
    assert caret is not None
    assert shown[caret.index("^") :].startswith("hereb")
    assert (shown[0], shown[-1]) == ("…", "…")
    assert excerpt("a" * 400)[0] == "a" * WIDTH + "…"


@given(st.text(max_size=400), st.none() | st.integers(-2, 500))
def test_an_excerpt_is_one_short_visible_line(line: str, column: int | None) -> None:
    """For any line and any place."""
    shown, caret = excerpt(line, column)
    assert shown.isprintable()
    assert len(shown) <= 2 * WIDTH
    assert caret is None or len(caret) <= WIDTH + 1
