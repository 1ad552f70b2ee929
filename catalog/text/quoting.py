"""Quotation of untrusted values in messages."""

from collections.abc import Mapping

from catalog.text.display import visible

LONGEST_QUOTE = 80
"""Characters of a value in a message, at most."""


def quoted(text: str) -> str:
    """Return a text in quotation marks, truncated and visible."""
    return f"“{printable(text)}”"


def printable(text: str, longest: int = LONGEST_QUOTE) -> str:
    """Return a text visible and on one line; a longer one is truncated, with `…`."""
    return visible(text if len(text) <= longest else f"{text[:longest]}…")


def kind(value: object) -> str:
    """Return the kind of a frontmatter value, with its article."""
    if isinstance(value, str):
        return "text"
    return "a map" if isinstance(value, Mapping) else "a list"
