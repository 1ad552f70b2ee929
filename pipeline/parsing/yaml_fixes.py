"""Fixes for YAML that libyaml cannot read, by libyaml's messages."""

from collections.abc import Mapping

_FIXES: Mapping[str, str] = {
    "end of stream": "Close the quote or bracket that opens here; double a quote that is text.",
    "unknown escape": "Double the backslash, or put the value in single quotes.",
    "tab": "Write spaces instead of the tab.",
    "comment or line break": "Write the text on the lines below, each indented by two spaces.",
    "expected ':'": (
        "Write `key: value` with a plain colon and a space; indent a line that goes on with the "
        "text above it by two spaces."
    ),
    "mapping values": (
        "Put the value in quotes: it holds a colon. Or indent the field as its neighbours are."
    ),
    "expected key": (
        "Indent the line as its neighbours are; put a value that holds quotes of its own in quotes "
        "of the other kind."
    ),
    "not allowed in this context": (
        "Put the value in quotes, or write the list on the lines below the field."
    ),
}


def fix_for(said: str) -> str | None:
    """Return what to do next, None where libyaml says too little."""
    return next((fix for part, fix in _FIXES.items() if part in said), None)
