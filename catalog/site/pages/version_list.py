"""List of a skill's versions, and the form that picks two of them."""

import json
from urllib.parse import quote, urlencode

from datasette import Response

from catalog.database.sql import Row
from catalog.reading import browse
from catalog.reading.browse import Catalog
from catalog.site.http.request import RequestContext
from catalog.site.pages import missing
from catalog.site.pages.skill import COMPARED_VERSIONS, row_query

LISTED = 200
"""Versions on one page of the list."""


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


async def compare(context: RequestContext) -> Response:
    """Redirect from the form to the comparison of the two versions that were picked."""
    skill_id, old, new = (
        context.path_part("skill_id"),
        context.parameter("from"),
        context.parameter("to"),
    )
    if not new:
        return context.redirect(context.skill_path(skill_id, "/versions"))
    query = f"?{urlencode({'against': old})}" if old else ""
    return context.redirect(
        f"{context.skill_path(skill_id, '/versions/')}{quote(new, safe='')}{query}"
    )


def _versions(db: Catalog, skill_id: str, row: int | None) -> tuple[Row, list[Row]] | None:
    skill = browse.skill(db, skill_id, row)
    return (skill, browse.versions(db, skill["id"])) if skill else None
