"""Usage: the skills that are read most, reads by day, and skills that nobody reads."""

from datetime import UTC, datetime

from datasette import Response

from catalog.site.http.request import RequestContext
from catalog.usage import summary

DAYS = (7, 30, 90)
"""Periods that can be chosen; the second is the default."""
MOST = 50
"""Skills on the page."""


async def page(context: RequestContext) -> Response:
    """Show the reads of some days."""
    asked = context.number("days")
    days = asked if asked in DAYS else DAYS[1]
    usage = await context.query(summary.of_all, datetime.now(UTC).date(), days, MOST)
    return context.page(
        "usage.html",
        usage=usage,
        days=days,
        choices=DAYS,
        total=sum(row["reads"] for row in usage.days) if usage else 0,
        highest=max((row["reads"] for row in usage.days), default=0) if usage else 0,
    )
