"""Files of other skills at the addresses to which relative links in a skill's files lead.

From `/skills/a/files/SKILL.md`, the link `../b/SKILL.md` leads to `/skills/a/b/SKILL.md`.
"""

import re

from datasette import Response

from catalog.reading import browse, references
from catalog.reading.browse import Catalog
from catalog.reading.references import LinkTarget
from catalog.site.http.request import RequestContext

_OF_VERSION = re.compile(r"versions/[^/]+/")


async def page(context: RequestContext) -> Response:
    """Redirect to a file of the other skill, if the skill has a reference to it."""
    skill_id = context.path_part("skill_id")
    path = _OF_VERSION.sub("", context.path_part("path"), count=1)
    target = await context.query(_target, skill_id, path)
    if target is None:
        return context.not_found(f"Nothing in the skill {skill_id} leads to {path}.")
    if target.row:
        return context.not_found(f"The skill {target.skill_id} is not published.")
    return Response.redirect(context.skill_path(target.skill_id, f"/files/{target.path}"))


def _target(db: Catalog, skill_id: str, path: str) -> LinkTarget | None:
    skill = browse.skill(db, skill_id)
    return references.beside(db, skill, path) if skill else None
