"""Versions: those of a skill, the changes between two, and those that wait for review."""

import asyncio
import json
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import urlencode

from datasette import Response

from catalog.database.queries import Database, Row
from catalog.reading.skills import review, skill_facts
from catalog.reading.skills import versions as reading_versions
from catalog.reading.skills.review import Waiting
from catalog.site.http.request import RequestContext
from catalog.site.pages import missing
from catalog.site.pages.skill import COMPARED_VERSIONS, row_query
from catalog.site.rendering.diff_rows import compare

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
    skill = await context.query(skill_facts.skill, skill_id, context.number("row"))
    if not skill:
        return await missing.skill(context, skill_id)
    versions = await context.query(reading_versions.of_skill, skill["id"])
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
    skill_id, new = context.path_part("skill_id"), context.parameter("to")
    old = context.parameter("from")
    address = context.skill_path(skill_id, f"/versions/{new}" if new else "/versions")
    return Response.redirect(f"{address}?{urlencode({'against': old})}" if old and new else address)


async def changes(context: RequestContext) -> Response:
    """Show the changes from the version before, or from the one that the query names."""
    skill_id, name = context.path_part("skill_id"), context.path_part("version")
    against, only = context.parameter("against"), context.parameter("file")
    packages, first = context.location.packages, context.number("from") or 0
    found = await context.query(_load, packages, skill_id, name, against, only)
    if isinstance(found, str):
        return context.not_found(found)
    if not found:
        return await missing.skill(context, skill_id)
    values, files = found
    part = await asyncio.to_thread(compare, *files, first)
    return context.page("diff.html", part=part, only=only, against=against, **values)


_Files: TypeAlias = tuple[dict[str, Row], dict[str, Row]]  # that differ, of the old and the new


def _load(
    db: Database, packages: Path, skill_id: str, name: str, against: str, only: str
) -> tuple[dict[str, Any], _Files] | str | None:
    """Return two versions for the page; a sentence if one is unknown, None if the skill is."""
    found = reading_versions.named(db, skill_id, name)
    skill = skill_facts.skill(db, skill_id, found["skill"] if found else None)
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
    files = reading_versions.changed_files(
        db,
        before["id"] if before else None,
        version["id"],
        only,
        room=COMPARED_CHARS,
        packaged=reading_versions.texts_in_packages(
            db, packages, skill, {row["id"]: row["version"] for row in versions}
        ),
    )
    return {
        "skill": skill,
        "row_query": row_query(skill),
        "version": version,
        "before": before,
        "versions": versions[:COMPARED_VERSIONS],
    }, files


async def waiting(context: RequestContext) -> Response:
    """Show the versions that wait for review, the longest waiting first."""
    number = context.number("page") or 1
    compared = await context.query(_waiting, number)
    items = await asyncio.to_thread(lambda: [_item(*each) for each in compared[:REVIEWED]])
    return context.page(
        "review.html", items=items, number=number, has_more=len(compared) > REVIEWED
    )


def _item(waiting: Waiting, files: _Files) -> dict[str, Any]:
    """Return a version with its differences, and the findings in them by file and line."""
    part = compare(*files, room=ROOM)
    placed: dict[str, dict[int, list[Row]]] = {}
    for change in part.changes:
        shown = {row.number for row in change.lines if row.kind in ("add", "same")}
        for finding in waiting.facts["findings"]:
            if finding["path"] == change.path and finding["line"] in shown:
                lines = placed.setdefault(change.path, {})
                lines.setdefault(finding["line"], []).append(finding)
    return {"waiting": waiting, "part": part, "placed": placed}


def _waiting(db: Database, number: int) -> list[tuple[Waiting, _Files]]:
    """Return the versions of a page with the files that differ, and one more if there is one."""
    return [
        (
            one,
            reading_versions.changed_files(
                db, one.row["published_id"], one.row["version_id"], room=REVIEWED_CHARS
            ),
        )
        for one in review.waiting(db, limit=REVIEWED + 1, offset=(number - 1) * REVIEWED)
    ]
