"""The prompt indexes as people see them: what is in, what was shortened, what is left out."""

from typing import Any

from datasette.utils.asgi import Response

from catalog.database.sql import Row
from catalog.reading import index_views
from catalog.reading.browse import Catalog
from catalog.site.http.request import RequestContext

LIST = r"^/indexes$"
ROUTE = r"^/indexes/(?P<name>[^/]+)$"

NAMED_LEFT_OUT = 100
"""Skills that are left out and named on the page."""
MOST_CHARS = 60_000
"""Characters of an index that the page shows; the whole text is a link away."""
MOST_SEGMENTS = 400
"""Entries that the bar shows one by one; thinner ones could not be seen."""


async def listing(context: RequestContext) -> Response:
    """Show the indexes there are."""
    return context.page("indexes.html", indexes=await context.query(index_views.indexes))


async def page(context: RequestContext) -> Response:
    """Show one index and the budget that it spent."""
    name = context.path_part("name")
    found = await context.query(_look_up, name)
    if not found:
        return context.not_found(f"There is no index {name}.")
    index, entries, (left_out, reasons) = found
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
    """Return the parts of the bar: where each entry begins, how wide it is, and what it is.

    Widths are thousandths of the budget; what stands around the entries comes first.
    """
    budget = max(index["budget_chars"], 1)
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
    at = 0.0
    for part in parts:
        width = 1000 * part["chars"] / budget
        part |= {"x": round(at, 2), "width": round(width, 2)}
        at += width
    return [part for part in parts if part["width"]]


def _look_up(db: Catalog, name: str) -> Any:
    index = index_views.index(db, name)
    if not index:
        return None
    return (
        index,
        index_views.index_entries(db, name),
        index_views.index_left_out(db, name, NAMED_LEFT_OUT),
    )
