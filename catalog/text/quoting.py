"""Values of untrusted skills, quoted for messages."""

from collections.abc import Mapping

from catalog.text.display import visible

LONGEST_QUOTE = 80
"""Characters of a value that a message shows."""


def quoted(text: str) -> str:
    """Return the text in quotation marks, cut short and visible."""
    return f"“{printable(text)}”"


def printable(text: str, longest: int = LONGEST_QUOTE) -> str:
    """Return the text visible and on one line; of a longer one so many characters and `…`."""
    return visible(text if len(text) <= longest else f"{text[:longest]}…")


def kind(value: object) -> str:
    """Return what sort of frontmatter value this is, with its article."""
    if isinstance(value, str):
        return "text"
    return "a map" if isinstance(value, Mapping) else "a list"
