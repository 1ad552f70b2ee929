"""Atom feeds (RFC 4287) of changes: of all skills, of one skill, and of a source."""

import re
import uuid
from urllib.parse import urlencode

from datasette import Response

from catalog.database.queries import Database, Row
from catalog.listings import refusals
from catalog.model.errors import NotInCatalog
from catalog.reading import activity, disk_paths
from catalog.reading.activity import ChangeFilter
from catalog.reading.skills import skill_facts
from catalog.site.http import responses
from catalog.site.http.request import RequestContext
from catalog.site.pages.overview import choice_of
from catalog.site.pages.skill import shortened
from catalog.site.rendering import templates

ATOM = "application/atom+xml; charset=utf-8"
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_BEGINNING = "1970-01-01T00:00:00+00:00"  # of a feed without entries, which needs a time, too


async def page(context: RequestContext) -> Response:
    """Return the feed of all changes, or of those of a source or of a skill."""
    choice = choice_of(context)._replace(scan=None)
    about = choice.source or choice.skill_id
    asked = {"source": choice.source, "skill": choice.skill_id}
    given = urlencode({name: value for name, value in asked.items() if value})
    query = f"?{given}" if given else ""
    rows, catalog = await context.query(_load, choice, is_local=context.is_local)

    def identifier(*parts: object) -> str:
        return uuid.uuid5(uuid.NAMESPACE_URL, f"skilldrop:{catalog}:{parts!r}").urn

    values = {
        "title": f"Changes of {about}" if about else "Changes of all skills",
        "id": identifier("feed", choice.skill_id, choice.source),
        "updated": rows[0]["started_at"] if rows else _BEGINNING,
        "page": context.url(context.path("/activity") + query),
        "own": context.url(context.path("/activity.atom") + query),
        "entries": [
            row | {"id": identifier(row["id"]), "url": context.url(_page(context, row))}
            for row in rows
        ],
    }
    text = _NOT_IN_XML.sub("\ufffd", templates.render("feed.xml", context, values))
    return responses.of_text(context.request, text, ATOM)


def _load(db: Database, choice: ChangeFilter, *, is_local: bool) -> tuple[list[Row], str]:
    """Return the newest changes, and the identifier of the catalog. Raises NotInCatalog.

    Those that made a present version have the clients that do not load it, as `not_loaded`.
    """
    if choice.skill_id and not skill_facts.skill(db, choice.skill_id):
        raise NotInCatalog(f"No skill has the identifier {choice.skill_id}.")
    folders = [] if is_local else disk_paths.disk_folders(db)
    rows = shortened(activity.changes(db, activity.PAGE, choice), folders)
    for row in rows:
        published = [row["skill"]] if row["is_current"] and row["status"] == "active" else [None]
        found = db.query("SELECT * FROM findings WHERE skill = ? ORDER BY id", published)
        row["not_loaded"] = refusals.sentences(found)
    return rows, activity.catalog_id(db)


def _page(context: RequestContext, row: Row) -> str:
    """Return the path of the version that a change made, or of its skill."""
    if not row["skill_id"]:
        return context.path("/activity")
    if row["version"]:
        return context.skill_path(row["skill_id"], f"/versions/{row['version']}")
    chosen = "" if row["status"] == "active" else f"?row={row['skill']}"
    return f"{context.skill_path(row['skill_id'])}{chosen}"
