"""Versions: those of a skill, the changes between two, and those that wait for review."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlencode

from datasette import Response

from catalog.database.sql import Row
from catalog.reading import browse, review
from catalog.reading import versions as reading_versions
from catalog.reading.browse import Catalog
from catalog.reading.review import Waiting
from catalog.site.http.request import RequestContext
from catalog.site.pages import missing
from catalog.site.pages.skill import COMPARED_VERSIONS, row_query
from catalog.site.rendering.diff_rows import Part, compare, take
from catalog.text.differences import Work

LISTED = 200
"""Versions on one page of the list."""
COMPARED_CHARS = 4_000_000
"""Characters of texts that one page compares; other files are compared one by one."""
REVIEWED = 10
"""Versions that wait for review, on one page."""
ROOM = 30_000
"""Approximate characters of the differences of one version; the page of the version has all."""
REVIEWED_CHARS = 400_000
"""Characters of texts that are compared for one version."""


async def listing(context: RequestContext) -> Response:
    """Show the versions of a skill, newest first."""
    skill_id, number = context.path_part("skill_id"), context.number("page") or 1
    result = await context.query(_versions, skill_id, context.number("row"))
    if not result:
        return await missing.skill(context, skill_id)
    skill, versions = result
    shown = versions[(number - 1) * LISTED : number * LISTED]
    return context.page(
        "versions.html",
        skill=skill,
        row_query=row_query(skill),
        total=len(versions),
        number=number,
        has_more=number * LISTED < len(versions),
        offered=versions[:COMPARED_VERSIONS],
        versions=[row | {"inventory": json.loads(row["file_inventory"])} for row in shown],
    )


async def picked(context: RequestContext) -> Response:
    """Redirect from the form to the comparison of the two versions that were picked."""
    skill_id, old, new = (
        context.path_part("skill_id"),
        context.parameter("from"),
        context.parameter("to"),
    )
    if not new:
        return Response.redirect(context.skill_path(skill_id, "/versions"))
    query = f"?{urlencode({'against': old})}" if old else ""
    return Response.redirect(
        f"{context.skill_path(skill_id, '/versions/')}{quote(new, safe='')}{query}"
    )


def _versions(db: Catalog, skill_id: str, row: int | None) -> tuple[Row, list[Row]] | None:
    skill = browse.skill(db, skill_id, row)
    return (skill, reading_versions.of_skill(db, skill["id"])) if skill else None


class _Pair(NamedTuple):
    """Two versions of a skill, with the files that differ."""

    skill: Row
    versions: list[Row]
    version: Row
    before: Row | None  # None for the first version
    old: dict[str, Row]
    new: dict[str, Row]


async def changes(context: RequestContext) -> Response:
    """Show the changes from the version before, or from the one that the query names."""
    skill_id, name = context.path_part("skill_id"), context.path_part("version")
    against, only = context.parameter("against"), context.parameter("file")
    packages = context.location.packages
    pair = await context.query(_load, packages, skill_id, name, against, only)
    if isinstance(pair, str):
        return context.not_found(pair)
    if not pair:
        return await missing.skill(context, skill_id)
    first = context.number("from") or 0
    part = await asyncio.to_thread(lambda: take(compare(pair.old, pair.new, Work()), first))
    return context.page(
        "diff.html",
        skill=pair.skill,
        row_query=row_query(pair.skill),
        version=pair.version,
        before=pair.before,
        versions=pair.versions[:COMPARED_VERSIONS],
        part=part,
        only=only,
        against=against,
    )


def _load(
    db: Catalog, packages: Path, skill_id: str, name: str, against: str, only: str
) -> _Pair | str | None:
    """Return two versions; a sentence if one is unknown, None if the skill is."""
    found = reading_versions.named(db, skill_id, name)
    skill = browse.skill(db, skill_id, found["skill"] if found else None)
    if not skill:
        return None
    versions = reading_versions.of_skill(db, skill["id"])
    names = [row["version"] for row in versions]
    for asked in filter(None, (name, against)):
        if asked not in names:
            return f"{skill['name']} has no version {asked}."
    index = names.index(name)
    version, older = versions[index], versions[index + 1 : index + 2]
    before = versions[names.index(against)] if against else next(iter(older), None)
    old, new = reading_versions.changed_files(
        db,
        before["id"] if before else None,
        version["id"],
        only,
        room=COMPARED_CHARS,
        packaged=reading_versions.texts_in_packages(
            db, packages, skill, {row["id"]: row["version"] for row in versions}
        ),
    )
    return _Pair(skill, versions, version, before, old, new)


class Item(NamedTuple):
    """Version on the page."""

    waiting: Waiting
    part: Part


class _Compared(NamedTuple):
    waiting: Waiting
    old: dict[str, Row]
    new: dict[str, Row]


async def waiting(context: RequestContext) -> Response:
    """Show the versions that wait for review, the longest waiting first."""
    number = context.number("page") or 1
    compared = await context.query(_waiting, number)
    shown = compared[:REVIEWED]
    items = await asyncio.to_thread(_items, shown)
    return context.page(
        "review.html", items=items, number=number, has_more=len(compared) > REVIEWED
    )


def _waiting(db: Catalog, number: int) -> list[_Compared]:
    """Return the versions of a page with the files that differ, and one more if there is one."""
    rows = review.waiting(db, limit=REVIEWED + 1, offset=(number - 1) * REVIEWED)
    return [
        _Compared(
            row,
            *reading_versions.changed_files(
                db, row.row["published_id"], row.row["version_id"], room=REVIEWED_CHARS
            ),
        )
        for row in rows
    ]


def _items(compared: Sequence[_Compared]) -> list[Item]:
    """Return the versions with their differences."""
    return [
        Item(one.waiting, take(compare(one.old, one.new, Work()), room=ROOM)) for one in compared
    ]
