"""The front page: the search, how many there are of what, what changed and how the service is."""

from datetime import UTC, datetime

from datasette.utils.asgi import Response

from catalog.reading import browse, health_summary
from catalog.site.http.request import RequestContext

ROUTE = r"^/$"


async def page(visit: RequestContext) -> Response:
    """Show the way in."""
    overview = await visit.ask(browse.overview, visit.place.catalog)
    health = health_summary.health(overview, datetime.now(UTC))
    return visit.page("home.html", **overview | {"health": health})
