"""Home page: search, counts, recent changes, prompt indexes and the health of the service."""

from datetime import UTC, datetime

from datasette.utils.asgi import Response

from catalog.reading import browse, health_summary
from catalog.site.http.request import RequestContext

ROUTE = r"^/$"


async def page(context: RequestContext) -> Response:
    """Show the home page."""
    overview = await context.query(browse.overview, context.location.catalog)
    health = health_summary.health(overview, datetime.now(UTC))
    return context.page("home.html", **overview | {"health": health})
