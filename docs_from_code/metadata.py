"""Meaning of the columns of skills in datasette-metadata.yml, from the table of fields."""

import json
import re
from pathlib import Path

from catalog.model.fields import COLUMNS, Column

_FILE = Path(__file__).parents[1] / "datasette-metadata.yml"
_COLUMNS = re.compile(r"(?<= {10}# From catalog\.model\.fields:\n).*?(?= {10}# End\n)", re.DOTALL)


def page() -> str:
    """Return the file with the meaning of each column as the table has it now."""
    lines = "".join(f"          {name}: {_scalar(column)}\n" for name, column in COLUMNS.items())
    return _COLUMNS.sub(lambda _: lines, _FILE.read_text("utf-8"))


def _scalar(column: Column) -> str:
    """Return the meaning of a column as a YAML scalar, in quotes where it needs them."""
    text = f"{column.meaning}{', as a JSON list' if column.kind is tuple else ''}"
    return text if re.fullmatch(r"\w(?:[^:#]|[:#](?=\w))*", text) else json.dumps(text)
