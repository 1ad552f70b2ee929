"""Headings and first paragraph of a Markdown body, as text."""

import re
from collections.abc import Iterator, Sequence

MOST_HEADINGS = 200
LONGEST_HEADING = 300
"""Characters; a longer heading is cut."""

_INDENT = " " * 4  # a line indented this far is code, neither a heading nor a fence
_MAY_BE_HEADING = frozenset(" #=-")  # first characters of lines to check further
_MAY_BE_FENCE = frozenset(" `~<")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_COMMENT, _COMMENT_END = "<!--", "-->"
_UNDERLINE = re.compile(r"(?:=+|-+)$")
_NOT_PROSE = re.compile(r"#{1,6}(?:\s|$)|[>|<]|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$)|!\[|[-*_=\s]+$")
"""Start of a line that is not prose: heading, quote, table, HTML, list, image or rule."""


def headings(body: str, most: int = MOST_HEADINGS) -> tuple[str, ...]:
    """Return the texts of the first ATX and one-line setext headings outside code fences.

    Source: CommonMark, sections "ATX headings", "Setext headings" and "Fenced code blocks".
    """
    lines = body.split("\n")
    texts: list[str] = []
    for number, line in _outside_fences(lines):
        if line[:1] not in _MAY_BE_HEADING or line.startswith("- "):
            continue  # true of nearly every line, so the speed depends on this test
        if text := _heading(lines, number):
            texts.append(text[:LONGEST_HEADING])
            if len(texts) == most:
                break
    return tuple(texts)


def first_paragraph(body: str) -> str:
    """Return the first paragraph of prose on one line, or "" if there is none."""
    paragraph: list[str] = []
    last = 0
    for number, line in _outside_fences(body.split("\n")):
        text = line.strip()
        if paragraph and _UNDERLINE.match(text):
            paragraph.clear()  # it was a heading
        elif paragraph and (number > last + 1 or not text or _NOT_PROSE.match(text)):
            break
        elif text and not line.startswith(_INDENT) and not _NOT_PROSE.match(text):
            paragraph.append(text)
            last = number
    return " ".join(" ".join(paragraph).split())


def _outside_fences(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines outside code fences and HTML comments, each with its index."""
    fence = ""
    for number, line in enumerate(lines):
        if fence:
            fence = "" if _closes(line, fence) else fence
        elif line[:1] not in _MAY_BE_FENCE or not (fence := _opens(line)):
            yield number, line


def _opens(line: str) -> str:
    """Return the fence that this line opens, or ""."""
    text = line.strip()
    if line.startswith(_INDENT):
        return ""
    if text.startswith(_COMMENT):
        return "" if _COMMENT_END in text else _COMMENT_END
    fence = _FENCE.match(text)
    return (fence[1] or fence[2]) if fence else ""


def _closes(line: str, fence: str) -> bool:
    if fence == _COMMENT_END:
        return fence in line
    text = line.strip()
    return text.startswith(fence) and not text.strip(fence[0]) and not line.startswith(_INDENT)


def _heading(lines: Sequence[str], number: int) -> str:
    """Return the text of the heading that ends on this line, or ""."""
    line = lines[number]
    text = line.strip()
    if line.startswith(_INDENT):
        return ""
    if text.startswith("#"):
        return _atx(text)
    if number and _UNDERLINE.match(text) and _stands_alone(lines, number - 1):
        return lines[number - 1].strip()
    return ""


def _atx(text: str) -> str:
    title = text.lstrip("#")
    if len(text) - len(title) > 6 or not title.startswith((" ", "\t")):
        return ""
    title = title.strip()
    unclosed = title.rstrip("#")
    return unclosed.rstrip() if not unclosed or unclosed[-1] in " \t" else title


def _stands_alone(lines: Sequence[str], number: int) -> bool:
    """Return whether a line is a paragraph by itself, which an underline makes a heading."""
    text = lines[number].strip()
    if not text or lines[number].startswith(_INDENT) or _NOT_PROSE.match(text):
        return False
    above = lines[number - 1].strip() if number else ""
    return not above or above.startswith("#") or bool(_FENCE.match(above))
