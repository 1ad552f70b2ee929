"""Decoding of SKILL.md's bytes to text, with findings about the bytes."""

import re
from collections.abc import Iterator
from itertools import islice

from catalog.model.finding import Finding, FindingType
from pipeline.parsing import codes

_BOM = b"\xef\xbb\xbf"
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")  # its byte order marks

_C0_AND_DEL = bytes([*range(9), 11, 12, *range(14, 32), 127])
_C1 = re.compile(rb"\xc2[\x80-\x9f]")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")
# In UTF-8, what YAML 1.2.2 (5.1) forbids: the same without U+0085, with U+FFFE and U+FFFF.
_FORBIDDEN_BYTES = re.compile(
    rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x84\x86-\x9f]|\xef\xbf[\xbe\xbf]"
)
_FORBIDDEN = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")

_LINE_END = re.compile(rb"\r\n|\r|\n")
_MARKER = re.compile(r"^(?:(<{7}) |(={7})$|(>{7}) | {0,3}(```|~~~))", re.MULTILINE)


def decode(data: bytes) -> tuple[str, tuple[Finding, ...]]:
    """Return the bytes as text without a byte order mark, and findings about their encoding.

    Invalid UTF-8 is read as U+FFFD. UTF-16 is decoded, so that people can identify the skill;
    agents read the published bytes as UTF-8, so the finding rejects.
    """
    if data.startswith(_UTF_16):
        return data.decode("utf-16", "replace"), (codes.NOT_UTF_8.at(line=1),)
    findings = (codes.BYTE_ORDER_MARK.at(line=1),) if data.startswith(_BOM) else ()
    content = data.removeprefix(_BOM)
    try:
        return content.decode(), findings
    except UnicodeDecodeError as error:
        offset = error.start + len(data) - len(content)
        line = _line_at(data, offset)
        message = (
            f"The byte 0x{data[offset]:02x} at offset {offset} (line {line}) is not valid "
            "UTF-8; it and any others were read as U+FFFD."
        )
        return content.decode("utf-8", "replace"), (
            *findings,
            codes.INVALID_UTF_8.at(message, line=line),
        )


def without_forbidden_characters(text: str) -> str:
    """Return the text with U+FFFD for each character that YAML forbids."""
    return _FORBIDDEN.sub("\ufffd", text) if _may_match(text.encode()) else text


def byte_findings(data: bytes, text: str, frontmatter_ends: int) -> Iterator[Finding]:
    """Yield findings about a file's bytes, and about its text with LF line ends.

    The frontmatter ends before line `frontmatter_ends`; up to there, control characters break
    the YAML.
    """
    if not data.startswith(_UTF_16):
        yield from _control_characters(data, frontmatter_ends)
    if b"\r" in data and (lone := re.search(rb"\r(?![\n\0])", data)):
        yield codes.LONE_CARRIAGE_RETURN.at(line=_line_at(data, lone.start()))
    if "<" in text and "<<<<<<< " in text and (conflict := _conflict(text)) is not None:
        line = text.count("\n", 0, conflict) + 1
        yield codes.CONFLICT_MARKERS.at(
            f"An unresolved merge conflict starts at line {line}.", line=line
        )


def _may_match(data: bytes) -> bool:
    """Return whether UTF-8 may contain a character that one of the patterns above matches."""
    # bytes.translate is ten times faster than a regex search for a character class.
    if len(data.translate(None, _C0_AND_DEL)) != len(data):
        return True
    return not data.isascii() and (
        bool(_C1.search(data)) or b"\xef\xbf\xbe" in data or b"\xef\xbf\xbf" in data
    )


def _control_characters(data: bytes, frontmatter_ends: int) -> Iterator[Finding]:
    if not _may_match(data):
        return
    body = _offset_of_line(data, frontmatter_ends)
    forbidden = _FORBIDDEN_BYTES.search(data, 0, body)
    if forbidden:
        yield _characters(
            codes.FORBIDDEN_CHARACTERS,
            data,
            forbidden,
            "is forbidden in YAML; it and any others in the frontmatter were read as U+FFFD",
        )
    if control := _CONTROL.search(data, body if forbidden else 0):
        yield _characters(codes.CONTROL_CHARACTERS, data, control, "is invisible")


def _characters(kind: FindingType, data: bytes, match: re.Match[bytes], problem: str) -> Finding:
    line = _line_at(data, match.start())
    character = f"U+{ord(match[0].decode()):04X}"
    message = f"{character} at byte {match.start()} (line {line}) {problem}."
    return kind.at(message, line=line)


def _conflict(text: str) -> int | None:
    """Return the offset of a conflict; one in a code block is only an example."""
    in_code, start, divided = False, None, False
    for marker in _MARKER.finditer(text):
        ours, divider, theirs, code = marker.groups()
        if code:
            in_code = not in_code
        elif in_code:
            continue
        elif ours:
            start, divided = marker.start(), False
        elif divider:
            divided = start is not None
        elif theirs and divided:
            return start
    return None


def _line_at(data: bytes, offset: int) -> int:
    feeds = data.count(b"\n", 0, offset)
    returns = data.count(b"\r", 0, offset) - data.count(b"\r\n", 0, offset)
    return feeds + returns + 1


def _offset_of_line(data: bytes, line: int) -> int:
    """Return the offset of a line (from 1), or the data's length if it has fewer lines."""
    if line == 1:
        return 0
    end = next(islice(_LINE_END.finditer(data), line - 2, None), None)
    return end.end() if end else len(data)
