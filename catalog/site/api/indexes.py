"""Prompt indexes over HTTP, with locations that a reader elsewhere can fetch."""

import hashlib
import os
from collections.abc import Hashable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from datasette.utils.asgi import Response

from catalog.model.errors import NotInCatalog
from catalog.prompt_index import builder, locations, query
from catalog.prompt_index.builder import IndexSpec
from catalog.prompt_index.files import REPORT, report_bytes
from catalog.prompt_index.formats.registry import FORMATS
from catalog.reading.browse import Catalog
from catalog.site.http import errors, responses
from catalog.site.http.request import RequestContext

ROUTE = r"^/index/(?P<name>[^/]+)$"

MOST_KEPT = 32
"""Built indexes kept in memory, one for each index and address of the site."""

_TYPES = {
    ".xml": "application/xml; charset=utf-8",
    ".json": responses.JSON,
    ".md": "text/markdown; charset=utf-8",
}


@dataclass(frozen=True, slots=True)
class BuiltIndex:
    """Index with locations on the site, and its report."""

    state: Hashable  # of the catalog from which it was built
    text: bytes
    report: bytes


async def page(context: RequestContext) -> Response:
    """Return a prompt index, or its report.

    An index with a `location_base` is returned as published. For any other, the locations are
    URLs of this site, while those of the published file are paths on this machine.
    """
    asked = context.path_part("name")
    name, ending = _split(asked)
    try:
        spec = await context.look_up(query.index_spec, name)
    except NotInCatalog:
        return _not_found(asked)
    if ending not in ("", REPORT, FORMATS[spec.format].ending):
        return _not_found(asked)
    if ending != REPORT:
        context.count_index(name)
    if spec.location_base:
        return _published(context, spec, ending)
    built = await context.look_up(_built, context, spec)
    return _response(context, spec, built.report if ending == REPORT else built.text, ending)


def _split(asked: str) -> tuple[str, str]:
    """Return the name of an index, and the ending of one of its files, which may be missing."""
    endings = (REPORT, *{form.ending for form in FORMATS.values()})
    ending = next((ending for ending in endings if asked.endswith(ending)), "")
    return asked.removesuffix(ending), ending


def _built(db: Catalog, context: RequestContext, spec: IndexSpec) -> BuiltIndex:
    """Return the index as the catalog has it now; it is built again after changes only."""
    kept = context.location.built_indexes
    on_site = replace(spec, location_base=context.url(context.path(locations.SITE)))
    with query.one_moment(db):
        published_at, *rest = db.execute(_STATE, [spec.name]).fetchone()
        state = (published_at, *rest)
        built: BuiltIndex | None = kept.pop(on_site, None)
        if not built or built.state != state:
            index = query.build_index(db, on_site)
            report = builder.report(on_site, index) | {"published_at": published_at}
            built = BuiltIndex(state, index.text.encode(), report_bytes(report))
    kept[on_site] = built
    for oldest in list(kept)[:-MOST_KEPT]:
        kept.pop(oldest, None)
    return built


_STATE = """
    SELECT b.published_at, b.sha256, (SELECT max(id) FROM ingestions)
    FROM indexes AS i LEFT JOIN index_builds AS b ON b.id = i.last_build_id WHERE i.name = ?
"""


def _published(context: RequestContext, spec: IndexSpec, ending: str) -> Response:
    name = f"{spec.name}{REPORT}" if ending == REPORT else spec.file_name
    try:
        with open(context.location.indexes / name, "rb") as file:
            modified, body = (
                datetime.fromtimestamp(os.fstat(file.fileno()).st_mtime, UTC),
                file.read(),
            )
    except OSError:
        return _not_found(name)
    return _response(context, spec, body, ending, modified)


def _response(
    context: RequestContext,
    spec: IndexSpec,
    body: bytes,
    ending: str,
    modified: datetime | None = None,
) -> Response:
    kind = ".json" if ending == REPORT else FORMATS[spec.format].ending
    etag = hashlib.sha256(body).hexdigest()[:32]
    return responses.of_bytes(
        context.request, body, _TYPES.get(kind, responses.TEXT), etag=etag, modified=modified
    )


def _not_found(name: str) -> Response:
    return errors.as_json(f"No index has the name {name}.", 404)
