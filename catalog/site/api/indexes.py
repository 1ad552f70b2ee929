"""Prompt indexes over HTTP, with locations that a reader elsewhere can fetch."""

import hashlib
from dataclasses import replace

from datasette import Response

from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.prompt_index import builder, locations, query
from catalog.prompt_index.files import REPORT, report_bytes
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.spec import IndexSpec
from catalog.reading import index_views
from catalog.site.http import responses
from catalog.site.http.request import RequestContext

_TYPES = {
    ".xml": "application/xml; charset=utf-8",
    ".json": responses.JSON,
    ".md": "text/markdown; charset=utf-8",
}


async def page(context: RequestContext) -> Response:
    """Return a prompt index, or its report.

    An index with a `location_base` is returned as published. For any other, the locations are
    URLs of this site, while those of the published file are paths on this machine.
    """
    asked = context.path_part("name")
    name, ending = _split(asked)
    try:
        spec = await context.query(query.index_spec, name)
    except NotInCatalog:
        return _not_found(asked)
    if ending not in ("", REPORT, FORMATS[spec.format].ending):
        return _not_found(asked)
    if spec.location_base:
        return _published(context, spec, ending)
    on_site = replace(spec, location_base=context.url(context.path(locations.SITE)))
    return _response(context, spec, await context.query(_built, on_site, ending), ending)


def _split(asked: str) -> tuple[str, str]:
    """Return the name of an index, and the ending of one of its files, which may be missing."""
    endings = (REPORT, *{form.ending for form in FORMATS.values()})
    ending = next((ending for ending in endings if asked.endswith(ending)), "")
    return asked.removesuffix(ending), ending


def _built(db: Database, spec: IndexSpec, ending: str) -> bytes:
    """Return the text or the report of an index as the catalog has it now."""
    index = query.build_index(db, spec)
    if ending != REPORT:
        return index.text.encode()
    row = index_views.index(db, spec.name) or {"published_at": None}
    return report_bytes(builder.report(spec, index) | {"published_at": row["published_at"]})


def _published(context: RequestContext, spec: IndexSpec, ending: str) -> Response:
    name = f"{spec.name}{REPORT}" if ending == REPORT else spec.file_name
    try:
        body = (context.location.indexes / name).read_bytes()
    except OSError:
        return _not_found(name)
    return _response(context, spec, body, ending)


def _response(context: RequestContext, spec: IndexSpec, body: bytes, ending: str) -> Response:
    kind = _TYPES.get(".json" if ending == REPORT else FORMATS[spec.format].ending, responses.TEXT)
    etag = hashlib.sha256(body).hexdigest()[:32]
    return responses.of_bytes(context.request, body, kind, etag=etag)


def _not_found(name: str) -> Response:
    return responses.of_error(f"No index has the name {name}.", 404)
