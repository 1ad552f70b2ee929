"""List of skills: all skills by name, or the results of a search, best match first."""

from datetime import UTC, datetime
from typing import Any

from datasette.utils.asgi import Response

from catalog.model.errors import FilterInvalid
from catalog.reading import browse, search
from catalog.reading import filters as search_filters
from catalog.reading.browse import Catalog
from catalog.reading.filters import Filters
from catalog.site.http.request import RequestContext
from catalog.site.rendering.templates import MARKS

ROUTE = r"^/skills/?$"

MOST_HITS = 50
"""Search results on one page."""


async def page(context: RequestContext) -> Response:
    """Show the results of a search, or the list of skills, with the filters of either."""
    words = context.parameter("q").strip()
    number = context.number("page") or 1
    try:
        filters = filters_of(context)
    except FilterInvalid as error:
        return context.page("error.html", status=400, title="Unknown filter", message=str(error))
    given = {name: context.parameter(name).strip() for name in search_filters.PARAMETERS}
    query = _found if words else _listed
    values = await context.query(query, words, filters, number)
    return context.page(
        "search_results.html" if words else "skills.html",
        words=words,
        filters=given | {"status": filters.status},
        is_filtered=not filters.is_default,
        most=browse.GROUPS,
        number=number,
        **values,
    )


def filters_of(context: RequestContext) -> Filters:
    """Return the filters in the address of a request. Raises FilterInvalid."""
    given = {name: context.parameter(name) for name in search_filters.PARAMETERS}
    return search_filters.parse(given, datetime.now(UTC))


def _found(db: Catalog, words: str, filters: Filters, number: int) -> dict[str, Any]:
    offset = (number - 1) * MOST_HITS
    results = search.search(db, words, MOST_HITS, offset=offset, filters=filters, marks=MARKS)
    return {
        "results": results,
        "first": offset + 1,
        "alike": browse.alike(db, [hit.skill_id for hit in results.hits]),
        "groups": browse.groups(db),
    }


def _listed(db: Catalog, _: str, filters: Filters, number: int) -> dict[str, Any]:
    rows, total = browse.skills(db, filters, number)
    return {
        "rows": rows,
        "total": total,
        "pages": -(-total // browse.PAGE),
        "why_empty": "" if total else search.why_empty(db, "", filters),
        "groups": browse.groups(db),
    }
