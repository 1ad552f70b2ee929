"""The list of skills: all of them by name, or those that a search finds, best first."""

from datasette.utils.asgi import Response

from catalog.database.sql import Row
from catalog.reading import browse, search
from catalog.reading.browse import Catalog
from catalog.site.http.request import RequestContext
from catalog.site.rendering.templates import MARKS

ROUTE = r"^/skills/?$"

FOUND = 50
"""Skills that a search shows at most."""


async def page(context: RequestContext) -> Response:
    """Show what was asked for, with the ways to ask for less."""
    words = context.parameter("q").strip()
    if words:
        words, left_out = search.bounded(words)
        hits, alike = await context.query(_found, words)
        return context.page(
            "search_results.html",
            words=words,
            hits=hits,
            alike=alike,
            most=FOUND,
            left_out=left_out,
        )
    filters = {name: context.parameter(name) for name in ("level", "plugin", "tag")}
    filters["status"] = context.parameter("status") or "active"
    number = context.number("page") or 1
    (rows, total), groups = await context.query(_listed, filters, number)
    return context.page(
        "skills.html",
        rows=rows,
        total=total,
        groups=groups,
        filters=filters,
        most=browse.GROUPS,
        number=number,
        pages=-(-total // browse.PAGE),
    )


def _found(db: Catalog, words: str) -> tuple[list[search.Hit], set[str]]:
    hits = search.find(db, words, FOUND, marks=MARKS)
    return hits, browse.alike(db, [hit.skill_id for hit in hits])


def _listed(
    db: Catalog, filters: dict[str, str], number: int
) -> tuple[tuple[list[Row], int], dict[str, list[Row]]]:
    return browse.skills(db, **filters, page=number), browse.groups(db)
