"""A finding of the catalog on one line."""

from collections.abc import Mapping
from typing import Any

from catalog.text.display import visible


def finding_line(row: Mapping[str, Any]) -> str:
    """Return `path:line: severity code message` for a row of `findings`."""
    place = "/".join(filter(None, (row["root"], row["folder"], row["path"])))
    line = f":{row['line']}" if row["line"] else ""
    return f"{visible(place)}{line}: {row['severity']} {row['code']} {visible(row['message'])}"
