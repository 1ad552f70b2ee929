"""Shows one line of an untrusted text on a terminal, with a caret below the place that is meant."""

from collections.abc import Iterable

from catalog.text.display import visible
from pipeline.cli.output import columns

WIDTH = 100
"""Terminal columns of a line that are shown; the rest is cut."""

_BEFORE = 60  # of those, how many lie before the caret where the line must be cut there, too
_CUT = "…"


def excerpt(line: str, column: int | None = None) -> tuple[str, str | None]:
    """Return a line as it can be shown, and a line with a caret below its column.

    column counts characters from 1; without one, or beyond the line's end, there is no caret.
    """
    if column is None or not 1 <= column <= len(line) + 1:
        return _head(line, WIDTH), None
    at = column - 1
    before = _tail(line[:at], _BEFORE)
    used = columns.width(before)
    return before + _head(line[at:], WIDTH - used), " " * used + "^"


def _head(text: str, width: int) -> str:
    """Return a text that fills at most so many columns, cut at its end."""
    kept = _fitting(text, width)
    return "".join(kept) + (_CUT if len(kept) < len(text) else "")


def _tail(text: str, width: int) -> str:
    """Return a text that fills at most so many columns, cut at its start."""
    kept = _fitting(reversed(text), width)
    return (_CUT if len(kept) < len(text) else "") + "".join(reversed(kept))


def _fitting(text: Iterable[str], width: int) -> list[str]:
    """Return as many characters as fit, each as it is shown."""
    kept: list[str] = []
    for character in text:
        shown = visible(character)
        width -= columns.width(shown)
        # Marks have no width, and a line may hold a million of them.
        if width < 0 or len(kept) == WIDTH:
            break
        kept.append(shown)
    return kept
