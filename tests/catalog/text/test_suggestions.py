"""What is said about names that do not exist."""

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
def test_a_path_that_cannot_be_is_told_from_one_that_is_not(path: str, why: str | None) -> None:
    """Only what no file inside a skill can be called is impossible."""
    said = impossible(path)
    assert said is None if why is None else why in str(said)


def test_the_closest_names_come_first() -> None:
    """Case and Unicode forms aside, then by likeness; what is unlike is no suggestion."""
    names = ["word-count", "word-counter", "csv-profile", "会议纪要"]
    assert closest("Word-Count", names)[0] == "word-count"
    assert closest("ｗｏｒｄ-count", names)[0] == "word-count"
    assert closest("cvs-profile", names) == ["csv-profile"]
    assert closest("会议记要", names) == ["会议纪要"]
    assert closest("nothing like it", names) == []


def test_a_name_is_shown_harmlessly() -> None:
    """Control and bidi characters are spelt out, and a long name is cut."""
    assert shown("a\x1b[31m\u202eb\n") == "'a[U+001B][31m[U+202E]b[U+000A]'"
    assert len(shown("x" * 10**6)) < 130
    assert few(["a\x1bb", "读我.md"]) == "a[U+001B]b, 读我.md"
    assert few([str(n) for n in range(1012)], 3) == "0, 1, 2 and 1,009 more"
