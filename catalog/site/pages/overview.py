"""Pages about the whole catalog: home, help, activity, usage and health."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from datasette import Response

from catalog.database.queries import Database, Row
from catalog.model.paths import root_name
from catalog.reading import activity, disk_paths, service_health, sources, status
from catalog.reading.activity import ChangeFilter, Changes
from catalog.reading.findings import explanations
from catalog.reading.search import facet_counts, skill_lists
from catalog.site.http.request import RequestContext
from catalog.site.pages.skill import shortened
from catalog.site.rendering import formatting, markdown
from catalog.text import humanize
from catalog.usage import summary

DAYS = (7, 30, 90)
"""Periods of the page of reads; the second is the default."""
MOST = 50
"""Skills on the page of reads."""
SOURCES = 10
"""Sources on the home page."""


async def home(context: RequestContext) -> Response:
    """Show the home page."""
    return context.page("home.html", **await context.query(_front))


def _front(db: Database) -> dict[str, Any]:
    now = datetime.now(UTC)
    return {
        "sources": sources.largest(db, SOURCES),
        "facets": facet_counts.of_newest(db, "tag", "category"),
        "recent": {
            age: activity.number_since(db, humanize.since(age, now)) for age in ("1d", "7d")
        },
        **skill_lists.front(db),
    }


async def words(context: RequestContext) -> Response:
    """Show how to get and add a skill, and what the words of the site mean."""
    return context.page("help.html")


async def changes(context: RequestContext) -> Response:
    """Show the latest changes, or those before a given one, by day and by source."""
    choice, before = choice_of(context), context.number("before")
    page, scan = await context.query(_changes, choice, before, is_local=context.is_local)
    return context.page(
        "activity.html",
        days=[
            (day, _by_source(rows, is_told=bool(choice.skill_id)))
            for day, rows in formatting.by_day(page.rows, "started_at")
        ],
        choice=choice,
        since=context.parameter("since"),
        has_folders=choice.skill_id and len({(row["root"], row["path"]) for row in page.rows}) > 1,
        page=page,
        scan=scan,
    )


def choice_of(context: RequestContext) -> ChangeFilter:
    """Return the changes that the address of a request asks for. Raises FilterInvalid."""
    return ChangeFilter(
        context.number("scan"),
        context.parameter("skill").strip(),
        context.parameter("source").strip(),
        humanize.since(context.parameter("since").strip(), datetime.now(UTC)),
    )


def _changes(
    db: Database, choice: ChangeFilter, before: int | None, *, is_local: bool
) -> tuple[Changes, Row | None]:
    """Return a page of changes, with paths of the disk for readers on this machine only."""
    page = activity.page(db, choice, before)
    folders = [] if is_local else disk_paths.disk_folders(db)
    return page._replace(rows=shortened(page.rows, folders)), activity.scan(db, choice.scan)


def _by_source(rows: Iterable[Row], *, is_told: bool) -> list[dict[str, Any]]:
    """Return changes by source: `told` ones, rejections first, and `new` skills to name only."""
    groups: dict[str, dict[str, Any]] = {}
    for row in rows:
        source = row["source"] or root_name(row["root"])
        group = {"source": source, "at": row["started_at"], "told": [], "new": []}
        is_new = row["outcome"] == "added" and not (is_told or row["detail"] or row["differences"])
        groups.setdefault(source, group)["new" if is_new else "told"].append(row)
    for group in groups.values():
        group["told"].sort(key=lambda row: row["outcome"] != "rejected")
    return list(groups.values())


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
