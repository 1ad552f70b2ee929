"""Home page: search, latest and most read skills, and the ways to browse them."""

from typing import Any

from datasette.utils.asgi import Response

from catalog.reading import browse
from catalog.reading.browse import Catalog
from catalog.reading.filters import Filters
from catalog.site.http.request import RequestContext
from catalog.site.rendering import result_cache

ROUTE = r"^/$"


async def page(context: RequestContext) -> Response:
    """Show the home page."""
    place = context.location.catalog

    def front(db: Catalog) -> dict[str, Any]:
        facets, _ = result_cache.facets(db, place, Filters())
        return result_cache.of_state(db, place, "front", lambda: browse.front(db)) | {
            "facets": facets
        }

    return context.page("home.html", **await context.query(front))
