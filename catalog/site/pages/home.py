"""Home page: search, latest and most read skills, and the ways to browse them."""

from typing import Any

from datasette import Response

from catalog.reading import browse, facet_counts
from catalog.reading.browse import Catalog
from catalog.reading.filters import Filters
from catalog.site.http.request import RequestContext


async def page(context: RequestContext) -> Response:
    """Show the home page."""
    return context.page("home.html", **await context.query(_front))


def _front(db: Catalog) -> dict[str, Any]:
    facets, _ = facet_counts.of(db, Filters())
    return {"facets": facets, **browse.front(db)}
