"""Page of duplicates: groups of skills with the same files, similar bodies or one description."""

from datasette.utils.asgi import Response

from catalog.reading import duplicates
from catalog.reading.browse import Catalog
from catalog.site.http.request import RequestContext
from catalog.site.rendering import result_cache
from catalog.text.sketch import SIMILAR

ROUTE = r"^/duplicates$"


async def page(context: RequestContext) -> Response:
    """Show the groups of one kind of duplicates."""
    asked = context.parameter("kind")
    kind = asked if asked in duplicates.KINDS else duplicates.KINDS[0]
    number = context.number("page") or 1
    place = context.location.catalog

    def groups_of(db: Catalog) -> tuple[list[duplicates.Group], int]:
        found = result_cache.of_state(
            db, place, ("duplicates", kind), lambda: duplicates.groups(db, kind)
        )
        return duplicates.page(db, found, number), len(found)

    groups, total = await context.query(groups_of)
    return context.page(
        "duplicates.html",
        kind=kind,
        groups=groups,
        total=total,
        number=number,
        pages=-(-total // duplicates.PAGE),
        similar=int(100 * SIMILAR),
    )
