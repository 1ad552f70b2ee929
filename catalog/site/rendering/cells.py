"""Cells of Datasette's tables in readable form: JSON as text, names as links."""

import json
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from catalog.database.queries import Database
from catalog.reading import lookup
from catalog.site.rendering import formatting
from catalog.text import humanize

LONGEST = 300
"""Most characters of a value in a cell, as in Datasette."""
_ITEMS, _PAIRS = 20, 12  # most items of a list, and most pairs of an object, in a cell

SKILL_IDS = frozenset({"skill_id", "skillId"})
"""Columns whose values are shown by `skill_id`."""
_INVENTORY = ("file_inventory", "fileInventory")
_JSON = frozenset(
    "file_inventory fileInventory tags steps profiles filter featured frontmatter arguments"
    " result".split()
)
_ROWS = {"skill_row": "skills", "outcome_row": "outcomes"}
_AMOUNTS = {
    "size": humanize.size,
    "took_ms": formatting.milliseconds,
    "duration": formatting.milliseconds,
    "timeout_ms": formatting.milliseconds,
}


def as_html(value: Any) -> Markup:
    """Return the value of a cell as HTML, with invisible characters marked."""
    return Markup(formatting.in_html(str(escape(value))))


def render(
    value: Any, column: str, table: str | None, database: str, datasette: Any
) -> Markup | None:
    """Return a cell as HTML; None leaves it to Datasette."""
    if isinstance(value, int | float):
        if column in _AMOUNTS:
            return escape(_AMOUNTS[column](value))
        if column in _ROWS:
            row = datasette.urls.row(database, _ROWS[column], str(value))
            return Markup('<a href="{}">{}</a>').format(row, value)
    if not isinstance(value, str):
        return None
    if column in _JSON and value[:1] in ("[", "{"):
        return _json(value, column)
    if column == "code" and table == "findings":
        return _link(datasette, f"/findings/{quote(value, safe='')}", value)
    if len(value) > 19 and formatting.is_iso_time(value):  # to the second
        return Markup('<time datetime="{0}" title="{0}">{1} {2}</time>').format(
            value, value[:10], value[11:19]
        )
    return None


async def skill_id(value: str, database: Any, datasette: Any) -> Markup | None:
    """Return a skill_id as a link if there is a page that it leads to; None leaves it as text."""
    found = await database.execute_fn(lambda conn: lookup.skill_id_meant(Database(conn), value))
    return _link(datasette, f"/skills/{quote(value, safe='')}", value) if found == value else None


def _link(datasette: Any, path: str, text: str) -> Markup:
    return Markup('<a href="{}">{}</a>').format(datasette.urls.path(path), text)


def _json(text: str, column: str) -> Markup | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if column in _INVENTORY and isinstance(value, dict):
        return escape(_inventory(value))
    if column == "steps" and isinstance(value, list):
        return escape(
            " → ".join(
                f"{step.get('stepName')} {formatting.milliseconds(step.get('duration') or 0)}"
                + (f" ({step['error']})" if step.get("error") else "")
                for step in value
            )
        )
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        chips = "".join(f'<span class="chip">{escape(item)}</span> ' for item in value[:_ITEMS])
        return Markup(f'<span class="chips">{chips}{_more(len(value) - _ITEMS)}</span>')
    if isinstance(value, dict):
        pairs = "".join(
            f"<b>{escape(key)}</b> {escape(_short(item))}<br>"
            for key, item in list(value.items())[:_PAIRS]
        )
        return Markup(f'<span class="pairs">{pairs}{_more(len(value) - _PAIRS)}</span>')
    return None


def _more(count: int) -> str:
    """Return the number of omitted items as text; empty if the cell shows all."""
    return f"… and {count:,} more" if count > 0 else ""


def _inventory(inventory: dict[str, Any]) -> str:
    parts = [
        humanize.count(inventory.get("totalFiles") or 0, "file"),
        humanize.size(inventory.get("totalSizeBytes") or 0),
    ]
    parts += [
        humanize.count(len(inventory[key]), word)
        for key, word in (
            ("scriptFiles", "script"),
            ("referenceFiles", "reference"),
            ("templateFiles", "template"),
        )
        if inventory.get(key)
    ]
    return " · ".join(parts)


def _short(item: Any) -> str:
    text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
