"""The findings: each kind with what to do about it, and where it was found."""

from datasette.utils.asgi import Response

from catalog.reading import browse
from catalog.site.http.request import RequestContext

LIST = r"^/findings$"
ROUTE = r"^/findings/(?P<code>[^/]+)$"


async def listing(visit: RequestContext) -> Response:
    """Show each kind of finding that there is at present."""
    return visit.page("findings.html", codes=await visit.ask(browse.finding_codes))


async def page(visit: RequestContext) -> Response:
    """Show where one kind was found."""
    code, number = visit.part("code"), visit.number("page") or 1
    rows = await visit.ask(browse.findings_of, code, number)
    if not rows:
        return visit.missing(f"Nothing has the finding {code} at present.")
    return visit.page(
        "finding.html", code=code, rows=rows, number=number, has_more=len(rows) == browse.PAGE
    )
