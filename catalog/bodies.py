"""Where the body of a SKILL.md stands in it, so that the catalog keeps its text once; pure.

A body is the end of a SKILL.md with plain line ends, and has no space at its own ends.
"""

from typing import NamedTuple


class Span(NamedTuple):
    """The bytes of a body in the UTF-8 of a SKILL.md with plain line ends."""

    first: int  # from 1, as SQL counts
    size: int


def body_of(skill_md: str, chars: int) -> str:
    """Return the body, which has so many characters."""
    text = _without_end(skill_md)
    return text[len(text) - chars:]


def span_of(skill_md: str, chars: int) -> Span:
    """Return where the body stands, which has so many characters."""
    text = _without_end(skill_md)
    if text.isascii():
        return Span(len(text) - chars + 1, chars)
    count = len(text[len(text) - chars:].encode())
    return Span(len(text.encode()) - count + 1, count)


def _without_end(skill_md: str) -> str:
    if "\r" in skill_md:
        skill_md = skill_md.replace("\r\n", "\n").replace("\r", "\n")
    return skill_md.rstrip()
