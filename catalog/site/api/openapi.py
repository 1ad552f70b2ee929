"""OpenAPI document of the endpoints for programs, and the JSON Schemas of their responses."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from datasette import Response

from catalog.model.version import VERSION
from catalog.reading.filters import FILTERS, Filter
from catalog.site.http import responses
from catalog.site.http.request import RequestContext


@cache
def document() -> dict[str, Any]:
    """Return the document without the address of a site; it must not be changed."""
    text = Path(__file__).with_suffix(".yml").read_text("utf-8")
    loaded: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    search = loaded["paths"]["/search.json"]["get"]
    place = search["parameters"].index("filters")
    search["parameters"][place : place + 1] = map(_parameter, FILTERS)
    return loaded | {"info": loaded["info"] | {"version": VERSION}}


def _parameter(filter_: Filter) -> dict[str, Any]:
    """Return the parameter of a filter, which may come several times unless it has one value."""
    value: dict[str, Any] = {"enum": list(filter_.possible)}
    if filter_.kind in ("text", "time"):
        value = {"type": "string"}
    schema = value if filter_.is_single else {"type": "array", "items": value}
    usual = f" By default: {', '.join(filter_.usual)}." if filter_.usual else ""
    description = filter_.sentence + usual
    return {"name": filter_.name, "in": "query", "schema": schema, "description": description}


async def page(context: RequestContext) -> Response:
    """Return the document for this site."""
    server = context.url(context.path("/")).rstrip("/")
    return responses.of_json(context.request, document() | {"servers": [{"url": server}]})
