"""Headings, first paragraph and code blocks of a Markdown body."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter

MOST_HEADINGS = 200
LONGEST_HEADING = 300
"""Characters; a longer heading is cut."""

_INDENT = " " * 4  # a line indented this far is code, neither a heading nor a fence
_MAY_BE_HEADING = frozenset(" #=-")  # first characters of lines to look at more closely
_FENCE = re.compile(r"`{3,}[^`]*$|~{3,}")
_LINE_START = r"\n[ \t>]{0,20}"  # also of lists and quotes
_BLOCK = re.compile(
    rf"{_LINE_START}(?:(?:[-*+]|\d{{1,3}}[.)])[ \t]{{1,4}})?(?:(`{{3,}})(?![^\n]*`)|(~{{3,}})|<!--)"
)
_CLOSING = {
    "`": re.compile(rf"{_LINE_START}(`{{3,}})[ \t]*(?=\n|\Z)"),
    "~": re.compile(rf"{_LINE_START}(~{{3,}})[ \t]*(?=\n|\Z)"),
}
_UNDERLINE = re.compile(r"(?:=+|-+)$")
_NOT_PROSE = re.compile(r"#{1,6}(?:\s|$)|[>|<]|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$)|!\[|[-*_=\s]+$")
"""Start of a line that is not prose: heading, quote, table, HTML, list, image or rule."""


def headings(body: str) -> tuple[str, ...]:
    """Return the texts of the first ATX and one-line setext headings outside code fences.

    Source: CommonMark, sections "ATX headings", "Setext headings" and "Fenced code blocks".
    """
    lines = body.split("\n")
    texts: list[str] = []
    for number, line in _outside_blocks(lines):
        if line[:1] not in _MAY_BE_HEADING or line.startswith("- "):
            continue  # true of nearly every line, so the speed depends on this test
        if text := _heading(lines, number):
            texts.append(text[:LONGEST_HEADING])
            if len(texts) == MOST_HEADINGS:
                break
    return tuple(texts)


def first_paragraph(body: str) -> str:
    """Return the first paragraph of prose on one line, or "" if there is none."""
    paragraph: list[str] = []
    last = 0
    for number, line in _outside_blocks(body.split("\n")):
        text = line.strip()
        if paragraph and _UNDERLINE.match(text):
            paragraph.clear()  # it was a heading
        elif paragraph and (number > last + 1 or not text or _NOT_PROSE.match(text)):
            break
        elif text and not line.startswith(_INDENT) and not _NOT_PROSE.match(text):
            paragraph.append(text)
            last = number
    return " ".join(" ".join(paragraph).split())


def code_blocks(body: str, *, comments: bool = False) -> list[tuple[int, int]]:
    """Return the start and end offsets of code fences, and of comments if asked for.

    Source: CommonMark, sections "Fenced code blocks" and "HTML blocks".
    """
    if not ("`" in body or "~" in body or "<" in body):
        return []
    text = f"\n{body}"  # so that a line end precedes every line
    blocks: list[tuple[int, int]] = []
    end = 0
    while opening := _BLOCK.search(text, end):
        end = _end(text, opening)
        if comments or opening[1] or opening[2]:
            blocks.append((opening.start(), end - 1))
    return blocks


def _end(text: str, opening: re.Match[str]) -> int:
    """Return the end offset of the block that starts here."""
    fence = opening[1] or opening[2]
    if not fence:
        end = text.find("-->", opening.end())
        return len(text) if end < 0 else end + 3
    indent = opening.end() - len(fence) - opening.start() + 3
    for closing in _CLOSING[fence[0]].finditer(text, opening.end()):
        if len(closing[1]) >= len(fence) and closing.start(1) - closing.start() <= indent:
            return closing.end()
    return len(text)


def lies_in(blocks: list[tuple[int, int]], offset: int) -> bool:
    """Return whether one of these parts of a text, in their order, contains an offset."""
    index = bisect_right(blocks, offset, key=itemgetter(0)) - 1
    return index >= 0 and offset < blocks[index][1]


def _outside_blocks(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines outside code fences and HTML comments, each with its index."""
    blocks = code_blocks("\n".join(lines), comments=True)
    offset, following = 0, 0
    for number, line in enumerate(lines):
        while following < len(blocks) and blocks[following][1] <= offset:
            following += 1
        if following == len(blocks) or offset < blocks[following][0]:
            yield number, line
        offset += len(line) + 1


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
