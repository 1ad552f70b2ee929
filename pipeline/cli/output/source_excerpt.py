"""Excerpt of one line of untrusted text for a terminal, with a caret under one column."""

from collections.abc import Iterable

from catalog.text.display import visible
from pipeline.cli.output import columns

WIDTH = 100
"""Terminal columns of an excerpt; the rest of the line is cut."""

_BEFORE = 60  # most columns before the caret
_CUT = "…"


def excerpt(line: str, column: int | None = None) -> tuple[str, str | None]:
    """Return the printable line, and a second line with a caret under the column.

    `column` counts characters from 1. Without one, or beyond the end of the line, the second
    value is None.
    """
    if column is None or not 1 <= column <= len(line) + 1:
        return _head(line, WIDTH), None
    before = _tail(line[: column - 1], _BEFORE)
    used = columns.width(before)
    return before + _head(line[column - 1 :], WIDTH - used), " " * used + "^"


def _head(text: str, width: int) -> str:
    """Return the text, cut at its end to at most `width` columns."""
    kept = _fitting(text, width)
    return "".join(kept) + (_CUT if len(kept) < len(text) else "")


def _tail(text: str, width: int) -> str:
    """Return the text, cut at its start to at most `width` columns."""
    kept = _fitting(reversed(text), width)
    return (_CUT if len(kept) < len(text) else "") + "".join(reversed(kept))


def _fitting(text: Iterable[str], width: int) -> list[str]:
    """Return the printable forms of the leading characters that fit."""
    kept: list[str] = []
    for character in text:
        shown = visible(character)
        width -= columns.width(shown)
        # Combining marks have no width, and a line may contain a million of them.
        if width < 0 or len(kept) == WIDTH:
            break
        kept.append(shown)
    return kept
