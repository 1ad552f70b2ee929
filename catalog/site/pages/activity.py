"""Activity: changes by day, those of a full scan together; or of one scan, skill or publisher."""

import json
from itertools import groupby
from typing import Any

from datasette import Response

from catalog.reading import activity
from catalog.reading.activity import Choice, Unit
from catalog.reading.browse import Catalog
from catalog.site.http.request import RequestContext


async def page(context: RequestContext) -> Response:
    """Show the latest changes, or those before a given one."""
    before, choice = context.number("before"), choice_of(context)
    units, scan = await context.query(_units, choice, before)
    most = activity.UNITS if choice.is_all else activity.PAGE
    return context.page(
        "activity.html",
        days=[(day, list(of_day)) for day, of_day in groupby(units, lambda unit: unit.at[:10])],
        choice=choice,
        has_folders=choice.skill_id and len({_folder(unit) for unit in units}) > 1,
        scan=scan,
        before=before,
        following=units[-1].last if len(units) == most else None,
        steps=lambda row: json.loads(row["steps"]),
    )


def choice_of(context: RequestContext) -> Choice:
    """Return the changes that the address of a request asks for."""
    return Choice(
        context.number("scan"),
        context.parameter("skill").strip(),
        context.parameter("publisher").strip(),
    )


def _folder(unit: Unit) -> tuple[str, str]:
    return unit.changes[0]["root"], unit.changes[0]["path"]


def _units(db: Catalog, choice: Choice, before: int | None) -> tuple[list[Unit], Any]:
    if choice.is_all:
        return activity.units(db, before), activity.last_scan(db)
    rows = activity.chosen(db, choice, before)
    units = [Unit(row["id"], row["started_at"], None, [row], 1) for row in rows]
    return units, activity.scan(db, choice.scan) if choice.scan else None
