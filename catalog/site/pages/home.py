"""Home page: search, latest and most read skills, and the ways to browse them."""

from datasette.utils.asgi import Response

from catalog.reading import browse
from catalog.reading.browse import Catalog
from catalog.reading.filters import Filters
from catalog.site.http.request import RequestContext
from catalog.site.rendering import result_cache

ROUTE = r"^/$"


async def page(context: RequestContext) -> Response:
    """Show the home page, which is rendered again after a change or a minute."""
    place = context.location.catalog

    def front(db: Catalog) -> bytes:
        facets, _ = result_cache.facets(db, place, Filters())
        key = ("home", context.path("/"), context.health)
        return result_cache.of_state(
            db,
            place,
            key,
            lambda: context.rendered("home.html", facets=facets, **browse.front(db)),
        )

    return context.of_html(await context.query(front))
