"""Cells of Datasette's tables in readable form: JSON as text, names as links."""

import json
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from catalog.site.rendering import formatting, invisible
from catalog.text import humanize

LONGEST = 300
"""Most characters of a value in a cell, as in Datasette."""
_ITEMS, _PAIRS = 20, 12  # most items of a list, and most pairs of an object, in a cell

_INVENTORY = ("file_inventory", "fileInventory")
_JSON = frozenset(
    {
        *_INVENTORY,
        "tags",
        "steps",
        "profiles",
        "filter",
        "featured",
        "frontmatter",
        "arguments",
        "result",
    }
)
_TIMES = frozenset(
    "at began first_seen last_changed last_event last_failure last_full_scan pending_since"
    " quiet_since service_seen service_started service_stopped suggested timestamp"
    " watcher_since".split()
)
_IDS = frozenset({"skill_id", "skillId"})
_OF_SKILLS = frozenset({"skills", "skill_definitions"})
"""Tables whose skill_ids have a page; in the others, one may be of a skill that never was here."""
_AMOUNTS = {
    "size": humanize.size,
    "took_ms": formatting.milliseconds,
    "duration": formatting.milliseconds,
    "timeout_ms": formatting.milliseconds,
}


def as_html(value: Any) -> Markup:
    """Return the value of a cell as HTML, with invisible characters marked."""
    return Markup(invisible.in_html(str(escape(value))))


def concerns(value: Any, column: str) -> bool:
    """Return whether `render` may have a form of its own for a cell."""
    if isinstance(value, str):
        return bool(value) and (column in _TEXTS or column.endswith("_at"))
    return isinstance(value, int | float) and (column in _AMOUNTS or column in _ROWS)


_TEXTS = _JSON | _IDS | _TIMES | {"code"}
_ROWS = {"skill_row": "skills", "outcome_row": "outcomes"}


def render(
    value: Any, column: str, table: str | None, database: str, datasette: Any
) -> Markup | None:
    """Return a cell as HTML; None leaves it to Datasette."""
    if column in _AMOUNTS:
        return escape(_AMOUNTS[column](value)) if isinstance(value, int | float) else None
    if column in _ROWS:
        row = datasette.urls.row(database, _ROWS[column], str(value))
        return Markup(f'<a href="{escape(str(row))}">{escape(value)}</a>')
    if column in _JSON and value[0] in "[{":
        return _json(value, column)
    if column in _IDS and table in _OF_SKILLS:
        return _skill_link(value, datasette)
    if column == "code" and table == "findings":
        return _link(datasette, f"/findings/{quote(value, safe='')}", value)
    if len(value) > 19 and value[10] == "T" and value[:4].isdecimal():  # ISO 8601, to the second
        return Markup(
            f'<time datetime="{escape(value)}" title="{escape(value)}">'
            f"{escape(value[:10])} {escape(value[11:19])}</time>"
        )
    return None


def needs_look_up(column: str, table: str | None) -> bool:
    """Return whether a cell contains a skill_id that may have no page."""
    return column in _IDS and table not in _OF_SKILLS


async def skill_id(value: str, database: Any, datasette: Any) -> Markup | None:
    """Return a skill_id as a link if there is a page that it leads to; None leaves it as text."""
    rows = await database.execute("SELECT 1 FROM skills WHERE skill_id = ? LIMIT 1", [value])
    return _skill_link(value, datasette) if rows.rows else None


def _skill_link(value: str, datasette: Any) -> Markup:
    return _link(datasette, f"/skills/{quote(value, safe='')}", value)


def _link(datasette: Any, path: str, text: str) -> Markup:
    return Markup(f'<a href="{escape(str(datasette.urls.path(path)))}">{escape(text)}</a>')


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
