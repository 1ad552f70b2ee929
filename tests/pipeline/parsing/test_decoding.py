import pytest

from catalog.text.visible import with_plain_line_ends
from pipeline.parsing.decoding import (
    byte_findings,
    decode,
    without_forbidden_characters,
)


@pytest.mark.parametrize(
    ("data", "text", "codes"),
    [
        (b"a\xc3\xa9", "aé", []),
        (b"\xef\xbb\xbfa", "a", ["byte-order-mark"]),
        (b"a\xff\xfe", "a\ufffd\ufffd", ["invalid-utf-8"]),
        (b"\xef\xbb\xbfa\xff", "a\ufffd", ["byte-order-mark", "invalid-utf-8"]),
        ("---中".encode("utf-16"), "---中", ["not-utf-8"]),
        (b"\xfe\xff" + "---".encode("utf-16-be"), "---", ["not-utf-8"]),
        ("---".encode("utf-16-le"), "-\0-\0-\0", []),
        (b"a\0b", "a\0b", []),
        (b"", "", []),
    ],
)
def test_bytes_become_text_whatever_they_are(data: bytes, text: str, codes: list[str]) -> None:
    """UTF-8 is expected; anything else is read as far as possible, with a finding."""
    decoded, findings = decode(data)
    assert decoded == text
    assert [each.code for each in findings] == codes


def test_invalid_utf_8_is_located() -> None:
    """The finding names the first bad byte, its offset in the file and its line."""
    _, findings = decode(b"\xef\xbb\xbfone\r\ntwo\rthree \xff\xff")
    (finding,) = (each for each in findings if each.code == "invalid-utf-8")
    assert "0xff at offset 18" in finding.message
    assert finding.line == 3


def odd(data: bytes, frontmatter_ends: int = 1) -> list[tuple[str, int | None]]:
    """Return code and line of each finding about a file's bytes."""
    text = with_plain_line_ends(decode(data)[0])
    return [(each.code, each.line) for each in byte_findings(data, text, frontmatter_ends)]


@pytest.mark.parametrize(
    ("data", "ends", "expected"),
    [
        (b"a\tb\r\nc\n", 3, []),
        ("é中\u00a0\U0001f600".encode(), 2, []),
        (b"---\na\x00\n---\nb", 3, [("forbidden-characters", 2)]),
        (b"---\na\n---\nb\x1b", 3, [("control-characters", 4)]),
        (b"---\na\x7f\n---\nb\x0c", 3, [("forbidden-characters", 2), ("control-characters", 4)]),
        ("---\na\x9f\n---\n".encode(), 3, [("forbidden-characters", 2)]),
        ("---\na\x85\n---\n".encode(), 3, [("control-characters", 2)]),
        ("---\na\uffff\n---\n\uffff".encode(), 3, [("forbidden-characters", 2)]),
        (b"a\x01\n", 1, [("control-characters", 1)]),
        ("voilà\xa0» MANHÃ” Ãs Â".encode(), 1, []),
        (b"a\rb\nc\r\n", 1, [("lone-carriage-return", 1)]),
        (b"a\r\nb\r", 1, [("lone-carriage-return", 2)]),
        ("a\x01\r\n".encode("utf-16"), 1, []),
    ],
)
def test_odd_characters_are_found_where_they_stand(
    data: bytes, ends: int, expected: list[tuple[str, int | None]]
) -> None:
    """In the frontmatter they break the YAML; elsewhere they are only reported."""
    assert odd(data, ends) == expected


def test_a_control_character_is_named_with_its_offset() -> None:
    """The character is invisible, so the message names it and its place."""
    (finding,) = byte_findings("é\n\x1b".encode(), "é\n\x1b", 1)
    assert "U+001B at byte 3 (line 2)" in finding.message


CONFLICT = b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> main\n"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (CONFLICT, 1),
        (b"x\n" + CONFLICT.replace(b"\n", b"\r\n"), 2),
        (b"```\nx\n```\n" + CONFLICT, 4),
        (b"```\n" + CONFLICT + b"```\n", None),
        (b"<<<<<<< HEAD\nonly a start\n", None),
        (b">>>>>>> b\n=======\n<<<<<<< a\n", None),
        (b"    " + CONFLICT, None),
    ],
)
def test_an_unresolved_conflict_is_found_outside_code(data: bytes, line: int | None) -> None:
    """All three markers must appear in order; markers in a code block do not count."""
    lines = [at for code, at in odd(data) if code == "conflict-markers"]
    assert lines == ([line] if line else [])


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a\r\nb\rc\n", "a\nb\nc\n"),
        ("a\r\r\nb", "a\n\nb"),
        ("a\nb", "a\nb"),
    ],
)
def test_all_line_ends_become_line_feeds(text: str, plain: str) -> None:
    """CRLF and lone CR end a line as LF does."""
    assert with_plain_line_ends(text) == plain


def test_only_what_yaml_forbids_is_replaced() -> None:
    """Tabs, line ends, U+0085 and letters of all scripts stay."""
    kept = "\t\n\x85\u00a0é中\U0001f600\u2028"
    assert without_forbidden_characters(kept) == kept
    assert without_forbidden_characters("a\0\x1b\x7f\x80\ufffe") == "a" + "\ufffd" * 5
