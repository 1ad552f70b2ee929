"""A finding of the catalog on one line."""

from collections.abc import Mapping
from typing import Any

from catalog.text.display import visible


def finding_line(row: Mapping[str, Any]) -> str:
    """Return `path:line: severity code message` for a row of `findings`; an error has its fix."""
    place = "/".join(filter(None, (row["root"], row["folder"], row["path"])))
    line = f":{row['line']}" if row["line"] else ""
    fix = f" {row['fix']}" if row["severity"] == "error" and row["fix"] else ""
    message = visible(f"{row['message']}{fix}")
    return f"{visible(place)}{line}: {row['severity']} {row['code']} {message}"
