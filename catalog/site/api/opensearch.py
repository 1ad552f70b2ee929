"""OpenSearch 1.1 description, by which a browser offers the site's search in its address bar."""

from datasette.utils.asgi import Response

from catalog.site.http import responses
from catalog.site.http.request import RequestContext
from catalog.site.rendering import assets, templates

ROUTE = r"^/-/opensearch\.xml$"
_TYPE = "application/opensearchdescription+xml; charset=utf-8"


async def page(context: RequestContext) -> Response:
    """Return the description, with the URLs of this site."""
    urls = {
        name: context.url(context.path(path))
        for name, path in (
            ("search", "/skills"),
            ("own", "/-/opensearch.xml"),
            ("icon", assets.path("drop.svg")),
        )
    }
    text = templates.render("opensearch.xml", context, urls)
    return responses.of_text(context.request, text, _TYPE)
