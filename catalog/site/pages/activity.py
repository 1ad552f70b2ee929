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
"""Full passes that the page names."""


async def page(context: RequestContext) -> Response:
    """Show the latest changes, and further ones below."""
    before = context.number("before")
    changes, scans = await context.query(_look_up, before)
    return context.page(
        "activity.html",
        changes=[row | {"trace": trace(row)} for row in changes],
        scans=scans,
        before=before,
        has_more=len(changes) == browse.PAGE,
    )


def trace(change: Row) -> list[dict[str, Any]]:
    """Return the steps of a change with their place on a bar, in thousandths of its time."""
    steps: list[dict[str, Any]] = json.loads(change["steps"])
    total = sum(step.get("duration") or 0 for step in steps) or 1
    at = 0.0
    for step in steps:
        width = 1000 * (step.get("duration") or 0) / total
        step |= {"x": round(at, 1), "width": round(width, 1)}
        at += width
    return steps


def _look_up(db: Catalog, before: int | None) -> tuple[list[Row], list[Row]]:
    return browse.recent(db, browse.PAGE, before), browse.scans(db, SCANS)
