"""Page of duplicates: groups of skills with the same files or description, or those like one."""

from datasette import Response

from catalog.reading import browse, duplicates
from catalog.reading.browse import Catalog
from catalog.reading.duplicates import Group
from catalog.site.http.request import RequestContext
from catalog.text.sketch import SIMILAR


async def page(context: RequestContext) -> Response:
    """Show the groups of one kind of duplicates, or the skills that are similar to one."""
    asked, like = context.parameter("kind"), context.parameter("like")
    kind = asked if asked in duplicates.KINDS else duplicates.KINDS[0]
    number = context.number("page") or 1

    def groups_of(db: Catalog) -> tuple[list[Group], int]:
        if like:
            found = _similar(db, like)
            return found, len(found)
        ids = duplicates.groups(db, kind)
        return duplicates.page(db, ids, number), len(ids)

    groups, total = await context.query(groups_of)
    return context.page(
        "duplicates.html",
        kind="similar" if like else kind,
        groups=groups,
        total=total,
        number=number,
        pages=-(-total // duplicates.PAGE),
        similar=int(100 * SIMILAR),
    )


def _similar(db: Catalog, skill_id: str) -> list[Group]:
    """Return a skill with those that are similar to it as one group; empty without any."""
    skill = browse.skill(db, skill_id)
    found = duplicates.similar(db, skill) if skill else []
    return [Group([dict(skill), *found], len(found) + 1)] if skill and found else []
