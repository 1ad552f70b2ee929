"""Answers for addresses that name no page: the skill that is meant, or the closest names."""

from dataclasses import replace
from typing import NamedTuple

from datasette import Response
from datasette.utils import tilde_decode

from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.reading import lookup
from catalog.reading.search import name_search
from catalog.reading.search.filters import Filters
from catalog.site.http import location as http_location
from catalog.site.http.request import RequestContext, header_health
from catalog.text.suggestions import shown

MOST_NEAR = 5
"""Most names that are offered."""
MOST_MEANT = 50
"""Most skills with one bare name that are offered."""


class Meant(NamedTuple):
    """Skill that an address means, or the skills that it may mean."""

    skill_id: str | None
    near: list[tuple[str, str]]  # names and skill_ids
    reason: str = ""  # why no skill is meant, as a sentence


async def skill(context: RequestContext, name: str) -> Response:
    """Redirect from another name of a skill to its page, or offer the closest names."""
    meant = await context.query(find, name)
    if meant.skill_id and meant.skill_id != name:
        path = http_location.path(context.datasette, context.request.scope)
        rest = path.split("/", 3)[3:]
        query = context.request.query_string
        address = "/".join([context.skill_path(meant.skill_id), *rest])
        return Response.redirect(f"{address}?{query}" if query else address)
    near = [(near, context.skill_path(skill_id)) for near, skill_id in meant.near]
    return context.not_found(meant.reason or f"No skill has the name {shown(name)}.", near)


async def page(context: RequestContext) -> Response:
    """Say that the site has no page at an address, and offer the closest skills."""
    path: str = tilde_decode(context.request.path)  # Datasette writes what was encoded as ~3C
    last = path.rstrip("/").rpartition("/")[2]
    meant = Meant(None, [])
    if await context.may_see():
        health = await header_health(context.datasette, context.location)
        context = replace(context, health=health)
        meant = await context.query(find, last.rpartition("=")[2])
    near = [(near, context.skill_path(skill_id)) for near, skill_id in meant.near]
    return context.not_found(f"This site has no page {shown(path)}.", near)


def find(db: Database, name: str) -> Meant:
    """Return the skill of a name: its own, in other letters, bare, or one it had before."""
    near = _near(db, name)
    if found := lookup.skill_id_meant(db, name):
        return Meant(found, near)
    try:
        return Meant(lookup.skill_id_of_bare_name(db, name), near)
    except NotInCatalog as several:
        names = [(whole, skill_id) for skill_id, whole, _ in lookup.with_bare_name(db, name)]
        return Meant(None, names[:MOST_MEANT], str(several))


def _near(db: Database, name: str) -> list[tuple[str, str]]:
    return [
        (near, found)
        for near in name_search.nearest(db, name, Filters(), MOST_NEAR)
        if (found := lookup.skill_id_meant(db, near))
    ]
