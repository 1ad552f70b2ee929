"""Suggestions for names that do not exist."""

import pytest

from catalog.text.suggestions import closest, few, impossible, shown


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("scripts/run.py", None),
        ("references/读我.md", None),
        ("a folder/with spaces", None),
        ("..hidden/file..", None),
        ("scripts/", None),
        ("%2e%2e/x", None),
        ("", "no file is named"),
        ("  ", "no file is named"),
        ("a/../b", "upwards"),
        ("..", "upwards"),
        ("/a", "absolute"),
        ("c:\\a", "absolute"),
        ("file:///a", "absolute"),
        ("a\\b", "backslash"),
        ("a\nb", "control"),
        ("a\ud800", "control"),
        ("a//b", "empty or a dot"),
        ("./a", "empty or a dot"),
        ("a" * 256, "longer"),
        ("字" * 86, "longer"),
        ("ab/" * 1400, "longer"),
    ],
)
def test_impossible_paths_have_a_reason(path: str, why: str | None) -> None:
    """A path that a file of a skill could have is possible."""
    said = impossible(path)
    assert said is None if why is None else why in str(said)


def test_the_closest_names_come_first() -> None:
    """Names that differ only in case or Unicode form come first; unlike names are not suggested."""
    names = ["word-count", "word-counter", "csv-profile", "会议纪要"]
    assert closest("Word-Count", names)[0] == "word-count"
    assert closest("ｗｏｒｄ-count", names)[0] == "word-count"
    assert closest("cvs-profile", names) == ["csv-profile"]
    assert closest("会议记要", names) == ["会议纪要"]
    assert closest("nothing like it", names) == []


def test_a_name_is_shown_harmlessly() -> None:
    """Control and bidi characters are shown as codes, and a long name is truncated."""
    assert shown("a\x1b[31m\u202eb\n") == "'a[U+001B][31m[U+202E]b[U+000A]'"
    assert len(shown("x" * 10**6)) < 130
    assert few(["a\x1bb", "读我.md"]) == "a[U+001B]b, 读我.md"
    assert few([str(n) for n in range(1012)], 3) == "0, 1, 2 and 1,009 more"
