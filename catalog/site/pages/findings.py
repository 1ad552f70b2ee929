"""The findings: each kind with what to do about it, and where it was found."""

from datasette.utils.asgi import Response

from catalog.reading import browse
from catalog.site.http.request import RequestContext

LIST = r"^/findings$"
ROUTE = r"^/findings/(?P<code>[^/]+)$"


async def listing(context: RequestContext) -> Response:
    """Show each kind of finding that there is at present."""
    return context.page("findings.html", codes=await context.query(browse.finding_codes))


async def page(context: RequestContext) -> Response:
    """Show where one kind was found."""
    code, number = context.path_part("code"), context.number("page") or 1
    rows = await context.query(browse.findings_of, code, number)
    if not rows:
        return context.not_found(f"Nothing has the finding {code} at present.")
    return context.page(
        "finding_kind.html", code=code, rows=rows, number=number, has_more=len(rows) == browse.PAGE
    )
