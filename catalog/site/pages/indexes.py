"""Pages of the prompt indexes: included, shortened and left-out skills."""

from typing import Any

from datasette.utils.asgi import Response

from catalog.database.sql import Row
from catalog.reading import index_views
from catalog.reading.browse import Catalog
from catalog.site.http.request import RequestContext

LIST = r"^/indexes$"
ROUTE = r"^/indexes/(?P<name>[^/]+)$"

NAMED_LEFT_OUT = 100
"""Most left-out skills that the page lists."""
MOST_CHARS = 60_000
"""Most characters of an index on the page, which links to the whole text."""
MOST_SEGMENTS = 400
"""Most entries with a segment of their own on the bar; thinner ones would be invisible."""


async def listing(context: RequestContext) -> Response:
    """Show all indexes."""
    return context.page("indexes.html", indexes=await context.query(index_views.indexes))


async def page(context: RequestContext) -> Response:
    """Show one index and its use of the budget."""
    name = context.path_part("name")
    row = await context.query(_index, name)
    if not row:
        return context.not_found(f"No index has the name {name}.")
    index, entries, (left_out, reasons) = row
    return context.page(
        "index.html",
        index=index,
        entries=entries,
        most_chars=MOST_CHARS,
        left_out=left_out,
        reasons=reasons,
        segments=segments(index, entries),
        states={
            state: [row for row in entries if row["state"] == state]
            for state in ("full", "shortened", "name_only")
        },
    )


def segments(index: Row, entries: list[Row]) -> list[dict[str, Any]]:
    """Return the segments of the bar: position, width and name of each entry.

    Positions and widths are thousandths of the budget; header and footer come first.
    """
    a_character = 1000 * index["used"] / max(index["budget"], 1) / max(index["chars"] or 0, 1)
    around = (index["chars"] or 0) - sum(row["chars"] for row in entries)
    parts = [{"state": "around", "chars": max(around, 0), "name": "header and footer"}]
    if len(entries) <= MOST_SEGMENTS:
        parts += [
            {"state": row["state"], "chars": row["chars"], "name": row["name"]} for row in entries
        ]
    else:
        parts += [
            {
                "state": state,
                "name": state,
                "chars": sum(row["chars"] for row in entries if row["state"] == state),
            }
            for state in ("full", "shortened", "name_only")
        ]
    position = 0.0
    for part in parts:
        width = part["chars"] * a_character
        part |= {"x": round(position, 2), "width": round(width, 2)}
        position += width
    return [part for part in parts if part["width"]]


def _index(db: Catalog, name: str) -> Any:
    index = index_views.index(db, name)
    if not index:
        return None
    return (
        index,
        index_views.index_entries(db, name),
        index_views.index_left_out(db, name, NAMED_LEFT_OUT),
    )
