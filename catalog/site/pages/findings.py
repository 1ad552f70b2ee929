"""Pages of findings: all kinds, one kind with its skills, and those about no skill."""

from itertools import groupby

from datasette import Response

from catalog.database.queries import Row
from catalog.reading import disk_paths
from catalog.reading.findings import explanations, finding_lists
from catalog.site.http.request import RequestContext
from catalog.site.pages.skill import SAFETY, shortened
from catalog.site.rendering import markdown
from catalog.text.suggestions import shown


async def listing(context: RequestContext) -> Response:
    """Show each kind of finding in the catalog, dangerous ones first."""
    kinds = [
        row | {"explained": explanations.explanation(row["code"])}
        for row in await context.query(finding_lists.finding_codes)
    ]
    groups = {name: [row for row in kinds if _group(row) == name] for name in _GROUPS}
    return context.page("findings.html", groups=groups, total=sum(row["n"] for row in kinds))


def _group(kind: Row) -> str:
    severity = str(kind["severity"])
    return SAFETY if kind["profile"] == SAFETY and severity != "danger" else severity


_GROUPS = ("danger", SAFETY, "error", "warning", "info")


async def not_skills(context: RequestContext) -> Response:
    """Show files and folders in the roots that belong to no skill, with their fixes."""
    number = context.number("page") or 1
    rows = await context.query(finding_lists.not_skills, number)
    return context.page(
        "not_skills.html", rows=rows, number=number, has_more=len(rows) == finding_lists.PAGE
    )


async def page(context: RequestContext) -> Response:
    """Explain one kind of finding, and show its findings by skill."""
    code, number = context.path_part("code"), context.number("page") or 1
    rows = await context.query(finding_lists.findings_of, code, number)
    kinds = [row for row in await context.query(finding_lists.finding_codes) if row["code"] == code]
    explained = explanations.explanation(code)
    if not (rows or explained or kinds):
        return context.not_found(f"No finding has the code {shown(code)}.")
    if not context.is_local:
        rows = shortened(rows, await context.query(disk_paths.disk_folders))
    usual = explained.fix if explained else ""
    fixes = {row["fix"] for row in rows}
    shared = next(iter(fixes)) if len(fixes) == 1 else ""
    rows = [row | {"own_fix": _own(row["fix"], shared, usual)} for row in rows]
    return context.page(
        "finding_kind.html",
        code=code,
        kinds=kinds,
        total=sum(row["n"] for row in kinds),
        skills=sum(row["skills"] for row in kinds),
        folders=[list(of_one) for _, of_one in groupby(rows, _folder)],
        fix=_own(shared, "", usual),
        explanation=[
            markdown.render(part) if part else None for part in (explained.text, explained.examples)
        ]
        if explained
        else None,
        number=number,
        has_more=len(rows) == finding_lists.PAGE,
    )


def _own(fix: str | None, shared: str, usual: str) -> str:
    """Return the fix of a finding unless the page shows it for all; `usual` has no backticks."""
    return fix if fix and fix != shared and fix.replace("`", "") != usual else ""


def _folder(finding: Row) -> tuple[object, ...]:
    return finding["skill"], finding["root"], finding["folder"]
