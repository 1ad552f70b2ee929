"""How values of untrusted skills are put into messages."""

from collections.abc import Mapping

LONGEST_QUOTE = 80
"""Characters of a value that a message shows."""


def quoted(text: str) -> str:
    """Return the text in quotation marks, cut short, without anything a terminal might obey."""
    return f"“{printable(text)}”"


def printable(text: str) -> str:
    """Return the text cut short, with each unprintable character written as U+…."""
    short = text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"
    if short.isprintable():
        return short
    return "".join(c if c.isprintable() else f"<U+{ord(c):04X}>" for c in short)


def kind(value: object) -> str:
    """Return what sort of frontmatter value this is, with its article."""
    if isinstance(value, str):
        return "text"
    return "a map" if isinstance(value, Mapping) else "a list"
