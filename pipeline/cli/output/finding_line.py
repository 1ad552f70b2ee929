"""A finding of the catalog on one line."""

from collections.abc import Mapping
from typing import Any

from catalog.text.display import visible


def finding_line(row: Mapping[str, Any]) -> str:
    """Return `path:line: severity code message` for a row of `findings`; an error has its fix."""
    return finding_at("/".join(filter(None, (row["root"], row["folder"], row["path"]))), row)


def finding_at(place: str, finding: Mapping[str, Any]) -> str:
    """Return the same for a finding in a file at a place."""
    line = f":{finding['line']}" if finding["line"] else ""
    fix = f" {finding['fix']}" if finding["severity"] == "error" and finding["fix"] else ""
    message = visible(f"{finding['message']}{fix}")
    return f"{visible(place)}{line}: {finding['severity']} {finding['code']} {message}"
