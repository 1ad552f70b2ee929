"""Lets the tables be read only: Datasette takes other requests for bugs, and its log fills."""

from typing import Any

from datasette.utils.asgi import asgi_send

from catalog.site import answers, place
from catalog.site.headers import App, Send

READING = frozenset({"GET", "HEAD", "OPTIONS"})


def wrap(app: App, datasette: Any) -> App:
    """Return the application, in which the catalog's tables and queries are only read."""
    async def reading(scope: Any, receive: Any, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in READING or (
                place.below(datasette, scope["path"]) is None):
            await app(scope, receive, send)
        else:
            await asgi_send(send, "The tables are only read.\n", 405,
                            {"Allow": ", ".join(sorted(READING))}, answers.TEXT)

    return reading
