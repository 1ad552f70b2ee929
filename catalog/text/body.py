"""Body of a SKILL.md, found again by its length, so that the catalog stores its text once.

A body is the end of a SKILL.md with plain line ends, without white space around it.
"""

from typing import NamedTuple


def with_plain_line_ends(text: str) -> str:
    """Return a text with CRLF and lone CR replaced by LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


class Body(NamedTuple):
    """Body with plain line ends, and its bytes in the UTF-8 of its SKILL.md."""

    text: str
    first_byte: int  # from 1, as SQL counts
    size: int  # bytes


def body_of(skill_md: str, chars: int) -> Body:
    """Return the body of a SKILL.md, given its number of characters."""
    whole = with_plain_line_ends(skill_md).rstrip()
    plain_start = start = len(whole) - chars
    # A line end of two characters before the body counts twice in the SKILL.md itself.
    while (shifted := plain_start + skill_md.count("\r\n", 0, start + 1)) != start:
        start = shifted
    end = len(skill_md.rstrip())
    before, body = skill_md[:start].encode(), skill_md[start:end].encode()
    return Body(whole[plain_start:], len(before) + 1, len(body))
