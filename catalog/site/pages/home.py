"""The front page: the search, how many there are of what, what changed and how the service is."""

from datetime import UTC, datetime

from datasette.utils.asgi import Response

from catalog import browse, told
from catalog.site.visit import Visit

ROUTE = r"^/$"


async def page(visit: Visit) -> Response:
    """Show the way in."""
    overview = await visit.ask(browse.overview, visit.place.catalog)
    health = told.health(overview, datetime.now(UTC))
    return visit.page("home.html", **overview | {"health": health})
