"""Activity: each change of a folder with its steps, and each full scan."""

import json
from typing import Any

from datasette.utils.asgi import Response

from catalog.database.sql import Row
from catalog.reading import browse
from catalog.reading.browse import Catalog
from catalog.site.http.request import RequestContext

ROUTE = r"^/activity$"

SCANS = 6
"""Full scans listed on the page."""


async def page(context: RequestContext) -> Response:
    """Show the latest changes, or those before a given one."""
    before = context.number("before")
    changes, scans = await context.query(_changes_and_scans, before)
    return context.page(
        "activity.html",
        changes=[row | {"trace": trace(row)} for row in changes],
        scans=scans,
        before=before,
        has_more=len(changes) == browse.PAGE,
    )


def trace(change: Row) -> list[dict[str, Any]]:
    """Return the steps of a change with their position on a bar, in thousandths of its duration."""
    steps: list[dict[str, Any]] = json.loads(change["steps"])
    total = sum(step.get("duration") or 0 for step in steps) or 1
    position = 0.0
    for step in steps:
        width = 1000 * (step.get("duration") or 0) / total
        step |= {"x": round(position, 1), "width": round(width, 1)}
        position += width
    return steps


def _changes_and_scans(db: Catalog, before: int | None) -> tuple[list[Row], list[Row]]:
    return browse.recent(db, browse.PAGE, before), browse.scans(db, SCANS)
