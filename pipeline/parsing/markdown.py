"""Headings, first paragraph and code blocks of a Markdown body."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

MOST_HEADINGS = 200
MOST_BLOCKS = 10_000
"""Of a text, and of its lines that may be headings; an ordinary text has a few dozen."""
LONGEST_HEADING = 300
"""Characters; a longer heading is cut."""

_INDENT = " " * 4  # a line indented this far is code, neither a heading nor a fence
_MAY_BE_HEADING = re.compile(r"\n(?=[ #=-])(?! {4}|- )[^\S\n]*(#[^\n]*|(?:=+|-+)[^\S\n]*(?=\n|\Z))")
_FENCE = re.compile(r"`{3,}[^`]*$|~{3,}")
_BLOCK = re.compile(  # also of lists and quotes; the second part says no to most lines
    r"\n(?=[ \t>*+0-9`~<-])[ \t>]{0,20}+(?:(?:[-*+]|\d{1,3}[.)])[ \t]{1,4}+)?+"
    r"(?:(`{3,})(?![^\n]*`)|(~{3,})|<!--)"
)
_CLOSING = re.compile(r"\n[ \t>]{0,20}(`{3,}|~{3,})[ \t]*(?=\n|\Z)")
_UNDERLINE = re.compile(r"(?:=+|-+)$")
_NOT_PROSE = re.compile(r"#{1,6}(?:\s|$)|[>|<]|[-*+](?:\s|$)|\d{1,9}[.)](?:\s|$)|!\[|[-*_=\s]+$")
"""Start of a line that is not prose: heading, quote, table, HTML, list, image or rule."""


class Block(NamedTuple):
    """Code fence or HTML comment, by its offsets in a text."""

    start: int
    end: int
    is_comment: bool


def headings(body: str, blocks: Sequence[Block]) -> tuple[str, ...]:
    """Return the texts of the first ATX and one-line setext headings outside the blocks.

    Source: CommonMark, sections "ATX headings", "Setext headings" and "Fenced code blocks".
    """
    lines = islice(_MAY_BE_HEADING.finditer(f"\n{body}"), MOST_BLOCKS)
    texts = (
        _atx(line[1].strip()) if line[1].startswith("#") else _underlined(body, line.start())
        for line in lines
        if not block_at(blocks, line.start())
    )
    return tuple(text[:LONGEST_HEADING] for text in islice(filter(None, texts), MOST_HEADINGS))


def first_paragraph(body: str) -> str:
    """Return the first paragraph of prose on one line, or "" if there is none."""
    paragraph: list[str] = []
    blocks, end = blocks_of(body), 0
    for line in body.split("\n"):
        start, end = end, end + len(line) + 1
        text = "" if block_at(blocks, start) else line.strip()
        if paragraph and _UNDERLINE.match(text):
            paragraph.clear()  # it was a heading
        elif paragraph and (not text or _NOT_PROSE.match(text)):
            break
        elif text and not line.startswith(_INDENT) and not _NOT_PROSE.match(text):
            paragraph.append(text)
    return " ".join(" ".join(paragraph).split())


def blocks_of(body: str) -> list[Block]:
    """Return the code fences and comments of a body.

    Source: CommonMark, sections "Fenced code blocks" and "HTML blocks".
    """
    if not ("```" in body or "~~~" in body or "<!--" in body):
        return []
    text = f"\n{body}"  # so that a line end precedes every line
    blocks: list[Block] = []
    end = 0
    while len(blocks) < MOST_BLOCKS and (opening := _BLOCK.search(text, end)):
        end = _end(text, opening)
        blocks.append(Block(opening.start(), end - 1, not (opening[1] or opening[2])))
    return blocks


def _end(text: str, opening: re.Match[str]) -> int:
    """Return the end offset of the block that starts here."""
    fence = opening[1] or opening[2]
    if not fence:
        end = text.find("-->", opening.end())
        return len(text) if end < 0 else end + 3
    indent = opening.end() - len(fence) - opening.start() + 3
    line = text.find("\n", opening.end())
    while line >= 0 and (at := text.find(fence, line)) >= 0:
        closing = _CLOSING.match(text, text.rfind("\n", line, at))
        if closing and closing.start(1) - closing.start() <= indent:
            return closing.end()
        line = text.find("\n", at)
    return len(text)


def block_at(blocks: Sequence[Block], offset: int) -> Block | None:
    """Return the block that an offset lies in."""
    index = bisect_left(blocks, (offset + 1,)) - 1
    return blocks[index] if index >= 0 and offset < blocks[index].end else None


def _atx(text: str) -> str:
    title = text.lstrip("#")
    if len(text) - len(title) > 6 or not title.startswith((" ", "\t")):
        return ""
    title = title.strip()
    unclosed = title.rstrip("#")
    return unclosed.rstrip() if not unclosed or unclosed[-1] in " \t" else title


def _underlined(body: str, underline: int) -> str:
    """Return the text of the heading above an underline, or "" unless it is a paragraph."""
    start = body.rfind("\n", 0, max(underline - 1, 0)) + 1
    text = body[start:underline].strip()
    if not text or body.startswith(_INDENT, start) or _NOT_PROSE.match(text):
        return ""
    above = body[body.rfind("\n", 0, max(start - 1, 0)) + 1 : start].strip()
    return text if not above or above.startswith("#") or _FENCE.match(above) else ""
