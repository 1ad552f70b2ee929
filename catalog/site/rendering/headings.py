"""Headings of a rendered text: their anchors, as GitHub makes them, and the table of contents."""

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from markdown_it.token import Token

PREFIX = "md-"
"""Begins each anchor, so that none is taken for one of the page's own."""
MOST = 150
"""Most headings in a table of contents."""
LONGEST = 100
"""Most characters of a heading there."""
DEEPEST = 3
"""Lowest level of headings there, from 1."""


class Heading(NamedTuple):
    """Entry of a table of contents."""

    level: int  # from 1, the highest in the text
    text: str
    anchor: str


def slug(text: str) -> str:
    """Return the anchor that GitHub gives to a heading: `A & B` becomes `a--b`.

    All but letters, marks, digits, connecting punctuation, spaces and hyphens is removed, and then
    each space is a hyphen.
    """
    kept = (char for char in text.lower() if char in " -" or _is_word(char))
    return "".join(kept).replace(" ", "-")


def number(tokens: Sequence[Token]) -> tuple[Heading, ...]:
    """Give each heading an anchor and a level below those of the page; return all headings.

    Of equal slugs, the second has `-1` at its end, as on GitHub.
    """
    taken: dict[str, int] = {}  # last number given to an anchor
    headings = []
    for opening, inline, closing in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opening.type != "heading_open":
            continue
        text = _text(inline.children or ()).strip()
        base = anchor = slug(text)
        while anchor in taken:
            taken[base] += 1
            anchor = f"{base}-{taken[base]}"
        taken[anchor] = 0
        level = int(opening.tag[1:])
        opening.attrSet("id", PREFIX + anchor)
        opening.tag = closing.tag = f"h{min(level + 2, 6)}"
        headings.append(Heading(level, text, PREFIX + anchor))
    return tuple(headings)


def contents(headings: Sequence[Heading]) -> tuple[Heading, ...]:
    """Return the entries of a table of contents, with levels from 1; empty if it would be short.

    A single heading at the top is the title of the text and has no entry.
    """
    top = [heading for heading in headings if heading.level == 1]
    if len(top) == 1:
        headings = [heading for heading in headings if heading.level > 1]
    highest = min((heading.level for heading in headings), default=1)
    entries = [
        Heading(heading.level - highest + 1, heading.text[:LONGEST], heading.anchor)
        for heading in headings
        if heading.text and heading.level - highest < DEEPEST
    ]
    return tuple(entries[:MOST]) if len(entries) > 1 else ()


def _text(tokens: Sequence[Token]) -> str:
    """Return the text of a heading without its markup; a picture has none."""
    return "".join(token.content for token in tokens if token.type in ("text", "code_inline"))


def _is_word(char: str) -> bool:
    category = unicodedata.category(char)
    return category[0] in "LM" or category in ("Nd", "Nl", "Pc")
