"""Cells of Datasette's tables in readable form: amounts in words, names as links."""

from typing import Any
from urllib.parse import quote

from markupsafe import Markup, escape

from catalog.database.queries import Database
from catalog.reading import lookup
from catalog.site.rendering import formatting
from catalog.text import humanize

SKILL_IDS = frozenset({"skill_id", "skillId"})
"""Columns whose values are shown by `skill_id`."""
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
