"""The cells of Datasette's tables as people read them: JSON as words, names as links."""

import json
from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from catalog import told
from catalog.site import wording

LONGEST = 300
"""Characters of a value that a cell shows, as Datasette does."""

_INVENTORY = ("file_inventory", "fileInventory")
_JSON = frozenset({*_INVENTORY, "tags", "steps", "profiles", "filter", "featured", "frontmatter",
                   "arguments", "result"})


def render(row: Any, value: Any, column: str, table: str | None, datasette: Any) -> Markup | None:
    """Return a cell as HTML; None where Datasette's own way is good."""
    if not isinstance(value, str) or not value:
        return None
    if column in _JSON and value[0] in "[{":
        return _json(value, column)
    if column in ("skill_id", "skillId"):
        return _link(datasette, f"/skills/{quote(value, safe='')}", value)
    if column == "code" and table == "findings":
        return _link(datasette, f"/findings/{quote(value, safe='')}", value)
    return None


def _link(datasette: Any, path: str, text: str) -> Markup:
    return Markup('<a href="{}">{}</a>').format(str(datasette.urls.path(path)), text)


def _json(text: str, column: str) -> Markup | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if column in _INVENTORY and isinstance(value, dict):
        return escape(_inventory(value))
    if column == "steps" and isinstance(value, list):
        return escape(" → ".join(
            f"{step.get('stepName')} {wording.milliseconds(step.get('duration') or 0)}"
            + (f" ({step['error']})" if step.get("error") else "") for step in value))
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return Markup('<span class="chips">{}</span>').format(
            Markup("").join(Markup('<span class="chip">{}</span> ').format(item)
                            for item in value[:20]))
    if isinstance(value, dict):
        shown = [(key, _short(item)) for key, item in value.items()]
        return Markup('<span class="pairs">{}</span>').format(Markup("").join(
            Markup("<b>{}</b> {}<br>").format(key, item) for key, item in shown[:12]))
    return None


def _inventory(inventory: dict[str, Any]) -> str:
    parts = [told.count(inventory.get("totalFiles") or 0, "file"),
             wording.size(inventory.get("totalSizeBytes") or 0)]
    parts += [told.count(len(inventory[key]), word)
              for key, word in (("scriptFiles", "script"), ("referenceFiles", "reference"),
                                ("templateFiles", "template")) if inventory.get(key)]
    return " · ".join(parts)


def _short(item: Any) -> str:
    text = item if isinstance(item, str) else json.dumps(item, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
