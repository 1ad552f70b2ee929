"""List of skills: all skills by name, or the results of a search, best match first."""

from datasette.utils.asgi import Response

from catalog.database.sql import Row
from catalog.reading import browse, search
from catalog.reading.browse import Catalog
from catalog.site.http.request import RequestContext
from catalog.site.rendering.templates import MARKS

ROUTE = r"^/skills/?$"

MOST_HITS = 50
"""Most search results on the page."""


async def page(context: RequestContext) -> Response:
    """Show the results of a search, or the list of skills with its filters."""
    words = context.parameter("q").strip()
    if words:
        results, alike = await context.query(_search, words)
        return context.page(
            "search_results.html",
            words=words,
            hits=results.hits,
            alike=alike,
            most=MOST_HITS,
            note=results.note,
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


def _search(db: Catalog, words: str) -> tuple[search.Results, set[str]]:
    results = search.search(db, words, MOST_HITS, marks=MARKS)
    return results, browse.alike(db, [hit.skill_id for hit in results.hits])


def _listed(
    db: Catalog, filters: dict[str, str], number: int
) -> tuple[tuple[list[Row], int], dict[str, list[Row]]]:
    return browse.skills(db, **filters, page=number), browse.groups(db)
