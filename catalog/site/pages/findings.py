"""Pages of findings: all kinds, one kind with its skills, and those about no skill."""

from datasette.utils.asgi import Response

from catalog.reading import browse, finding_pages
from catalog.site.http.request import RequestContext
from catalog.site.rendering import markdown

LIST = r"^/findings$"
NOT_SKILLS = r"^/not-a-skill$"
ROUTE = r"^/findings/(?P<code>[^/]+)$"


async def listing(context: RequestContext) -> Response:
    """Show each kind of finding in the catalog."""
    return context.page("findings.html", codes=await context.query(browse.finding_codes))


async def not_skills(context: RequestContext) -> Response:
    """Show what lies in the roots and is part of no skill, with what to do."""
    number = context.number("page") or 1
    rows = await context.query(browse.not_skills, number)
    return context.page(
        "not_skills.html", rows=rows, number=number, has_more=len(rows) == browse.PAGE
    )


async def page(context: RequestContext) -> Response:
    """Explain one kind of finding, and show all findings of it."""
    code, number = context.path_part("code"), context.number("page") or 1
    rows = await context.query(browse.findings_of, code, number)
    section = finding_pages.sections().get(code)
    if not (rows or section):
        return context.not_found(f"No finding has the code {code}.")
    return context.page(
        "finding_kind.html",
        code=code,
        rows=rows,
        explanation=markdown.kept(section) if section else None,
        number=number,
        has_more=len(rows) == browse.PAGE,
    )
