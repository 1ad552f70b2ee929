"""OpenAPI document of the endpoints for programs, and the JSON Schemas of their responses."""

from functools import cache
from pathlib import Path
from typing import Any

import yaml
from datasette.utils.asgi import Response

from catalog.model.version import VERSION
from catalog.site.http import responses
from catalog.site.http.request import RequestContext

ROUTE = r"^/-/openapi\.json$"


@cache
def document() -> dict[str, Any]:
    """Return the document without the address of a site; it must not be changed."""
    text = Path(__file__).with_suffix(".yml").read_text("utf-8")
    loaded: dict[str, Any] = yaml.load(text, Loader=yaml.CSafeLoader)
    return loaded | {"info": loaded["info"] | {"version": VERSION}}


async def page(context: RequestContext) -> Response:
    """Return the document for this site."""
    server = context.url(context.path("/")).rstrip("/")
    return responses.of_json(context.request, document() | {"servers": [{"url": server}]})
