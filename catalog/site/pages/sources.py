"""Pages of sources: all of them, and one with its skills, changes and findings."""

from itertools import groupby
from operator import itemgetter
from typing import Any

from datasette import Response

from catalog.database.queries import Database
from catalog.model.values import SEVERITIES
from catalog.reading import activity, disk_paths, sources
from catalog.reading.activity import ChangeFilter
from catalog.reading.search import skill_lists
from catalog.reading.search.filters import Filters
from catalog.reading.skills import install_lines
from catalog.site.http.request import RequestContext
from catalog.site.pages.skill import shortened

SKILLS, CHANGES = 30, 5
"""Most skills and latest changes of a source on one page."""


async def listing(context: RequestContext) -> Response:
    """Show the sources."""
    number, words = context.number("page") or 1, context.parameter("q").strip()
    rows = await context.query(sources.listed, words, number)
    return context.page(
        "sources.html",
        roots=[list(of_root) for _, of_root in groupby(rows[: sources.PAGE], itemgetter("root"))],
        asked=words,
        number=number,
        has_more=len(rows) > sources.PAGE,
    )


async def page(context: RequestContext) -> Response:
    """Show a source."""
    name, number = context.path_part("name"), context.number("page") or 1
    found = await context.query(_load, name, number, is_local=context.is_local)
    if not found:
        return context.not_found(f"No skill comes from {name}.")
    return context.page(
        "source.html",
        number=number,
        has_more=found["total"] > number * SKILLS,
        forge=next(filter(None, map(_forge, found["places"])), None),
        **found,
    )


def _forge(place: dict[str, Any]) -> str | None:
    url, commit = place["url"], place["git_commit"]
    return url and install_lines.repository_page(url, commit, place["path"] or "")


def _load(db: Database, name: str, number: int, *, is_local: bool) -> dict[str, Any] | None:
    source = sources.find(db, name)
    if not source:
        return None
    folders = [] if is_local else disk_paths.disk_folders(db)
    ids = skill_lists.skills(db, Filters(source=(name,)), number, size=SKILLS)
    source["findings"].sort(key=lambda row: SEVERITIES.index(row["severity"]))
    return source | {
        "total": source["statuses"].get("active", 0),
        "cards": skill_lists.cards_of(db, ids),
        "changes": shortened(activity.changes(db, CHANGES, ChangeFilter(source=name)), folders),
    }
