"""Pages about the whole catalog: home, activity, usage and health."""

import json
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from datasette import Response

from catalog.database.queries import Database, Row
from catalog.reading import activity, disk_paths, service_health, status
from catalog.reading.activity import ChangeFilter, Unit
from catalog.reading.findings import explanations
from catalog.reading.search import facet_counts, skill_lists
from catalog.reading.search.filters import Filters
from catalog.site.http.request import RequestContext
from catalog.site.pages.skill import shortened
from catalog.site.rendering import markdown
from catalog.usage import summary

DAYS = (7, 30, 90)
"""Periods of the page of reads; the second is the default."""
MOST = 50
"""Skills on the page of reads."""


async def home(context: RequestContext) -> Response:
    """Show the home page."""
    return context.page("home.html", **await context.query(_front))


def _front(db: Database) -> dict[str, Any]:
    facets, _ = facet_counts.of(db, Filters(), only=("category", "tag", "source"))
    return {"facets": facets, **skill_lists.front(db)}


async def changes(context: RequestContext) -> Response:
    """Show the latest changes, or those before a given one."""
    before, choice = context.number("before"), choice_of(context)
    units, scan = await context.query(_units, choice, before, is_local=context.is_local)
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


def choice_of(context: RequestContext) -> ChangeFilter:
    """Return the changes that the address of a request asks for."""
    return ChangeFilter(
        context.number("scan"),
        context.parameter("skill").strip(),
        context.parameter("source").strip(),
    )


def _folder(unit: Unit) -> tuple[str, str]:
    return unit.changes[0]["root"], unit.changes[0]["path"]


def _units(
    db: Database, choice: ChangeFilter, before: int | None, *, is_local: bool
) -> tuple[list[Unit], Any]:
    """Return a page of changes, with paths of the disk for readers on this machine only."""
    if choice.is_all:
        units, scan = activity.units(db, before), activity.last_scan(db)
    else:
        rows = activity.chosen(db, choice, before)
        units = [Unit(row["id"], row["started_at"], None, [row], 1) for row in rows]
        scan = activity.scan(db, choice.scan) if choice.scan else None
    folders = [] if is_local else disk_paths.disk_folders(db)
    return [unit._replace(changes=shortened(unit.changes, folders)) for unit in units], scan


async def reads(context: RequestContext) -> Response:
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


async def state(context: RequestContext) -> Response:
    """Show the health of the service, without paths of the disk above the roots."""
    catalog = context.location.catalog
    state, roots, counts, folders = await context.query(_state)
    folders.append(str(catalog.absolute().parent))
    summary = service_health.summary(state, datetime.now(UTC))

    def shown(text: str) -> str:
        return disk_paths.shortened_paths(text, folders)

    return context.page(
        "health.html",
        tone=summary.tone,
        is_decided=summary.is_decided,
        sentence=shown(summary.sentence),
        details=[shown(detail) for detail in summary.details],
        state=state["health"],
        held=sum(row["skills"] for row in state["held"]),
        to_review=state["to_review"],
        conflicts=state["name_conflicts"],
        counts=counts,
        roots=[
            row | {"path": shown(row["path"]), "trouble": row["trouble"] and shown(row["trouble"])}
            for row in roots
        ],
        subjects={title: markdown.render(text) for title, text in explanations.states().items()},
    )


def _state(db: Database) -> tuple[dict[str, Any], list[Row], Any, list[str]]:
    roots = db.rows(status.LISTS["roots"])
    return service_health.load(db), roots, status.counts(db), disk_paths.disk_folders(db)
