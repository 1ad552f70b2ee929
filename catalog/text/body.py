"""Position of the body in a SKILL.md, so that the catalog stores its text once.

A body is the end of a SKILL.md with plain line ends, without whitespace around it.
"""

from typing import NamedTuple

from catalog.text.line_ends import with_plain_line_ends


class Body(NamedTuple):
    """Body with its bytes in the UTF-8 of its SKILL.md with plain line ends."""

    text: str
    first_byte: int  # from 1, as SQL counts
    size: int  # bytes


def body_of(skill_md: str, chars: int) -> Body:
    """Return the body of a SKILL.md, given its number of characters."""
    whole = with_plain_line_ends(skill_md).rstrip()
    text = whole[len(whole) - chars :]
    size = len(text.encode())
    return Body(text, len(whole.encode()) - size + 1, size)
