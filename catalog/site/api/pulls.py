"""Endpoints of `skilldrop pull`: the skills to keep on another machine, and the program itself."""

import hashlib

from datasette import Response

from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.model.setting import Selection
from catalog.prompt_index import query
from catalog.reading import activity
from catalog.reading.files import repair
from catalog.reading.files.published import package_of
from catalog.reading.skills import offered
from catalog.site.api.files import ARCHIVE as ZIP
from catalog.site.http import responses
from catalog.site.http.request import RequestContext
from catalog.site.rendering import assets


async def listing(context: RequestContext) -> Response:
    """Return the skills that a model may see, of a selection, with their versions and digests."""
    try:
        return await context.query(_listing, context)
    except NotInCatalog as error:
        return responses.of_error(str(error), 404)
    except (PathRefused, PackageDamaged) as error:
        return responses.of_error(str(error), 503)


def _listing(db: Database, context: RequestContext) -> Response:
    selection = Selection(
        tuple(context.parameters("level")),  # type: ignore[arg-type]  # others select nothing
        tuple(context.parameters("tag")),
        tuple(context.parameters("only")),
    )
    if index := context.parameter("index"):
        selection = query.index_spec(db, index).selection
    else:
        if any(selection):
            offered.check_typed(db, selection, among=offered.IN_INDEX)
        also = context.parameters("also")  # asked for before, published or not
        selection = selection._replace(names=(*selection.names, *also))
    skills = offered.pulled(db, selection)
    if context.parameter("repair") == "1":
        needing = repair.repairable(db)
        for row in (row for row in skills if row["skill_id"] in needing):
            package = package_of(db, context.location.packages, row["skill_id"], by_id=True)
            if text := repair.repaired_skill_md(db, package):
                row["repaired"] = hashlib.sha256(text).hexdigest()
    return responses.of_json(
        context.request,
        {
            "catalog": activity.catalog_id(db),
            "is_complete": activity.is_complete(db),
            "skills": skills,
        },
    )


async def program(context: RequestContext) -> Response:
    """Return `skilldrop pull` as one file for any Python."""
    content, sha256 = assets.pull_program(), assets.pull_sha256()
    headers = {"Content-Disposition": "attachment; filename=pull.pyz"}
    return responses.of_bytes(context.request, content, ZIP, etag=sha256, headers=headers)
