"""Advice for YAML that libyaml cannot read, by parts of libyaml's messages."""

from collections.abc import Mapping

_FIXES: Mapping[str, str] = {
    "end of stream": "Close the quote or bracket that opens here; double a quote that is text.",
    "unknown escape": "Double the backslash, or put the value in single quotes.",
    "tab": "Write spaces instead of the tab.",
    "comment or line break": "Write the text on the lines below, each indented by two spaces.",
    "expected ':'": (
        "Write `key: value` with a plain colon and a space; indent a line that continues the text "
        "above it by two spaces."
    ),
    "mapping values": (
        "Put the value in quotes, because it contains a colon; or indent the field like its "
        "neighbours."
    ),
    "expected key": (
        "Indent the line like its neighbours; put a value that contains quotes in quotes of the "
        "other kind."
    ),
    "not allowed in this context": (
        "Put the value in quotes, or write the list on the lines below the field."
    ),
}


def fix_for(message: str) -> str | None:
    """Return the advice for a message of libyaml, or None if its cause is unclear."""
    return next((fix for part, fix in _FIXES.items() if part in message), None)
