"""Middleware that lets only a few questions about tables run at once, so that others get through.

Each may keep a thread busy for seconds, and all threads together answer everything else, too.
"""

import asyncio
from typing import Any
from urllib.parse import parse_qsl, urlencode

from catalog.site.http import errors
from catalog.site.http import location as http_catalog
from catalog.site.http.security_headers import App, Message, Send
from catalog.site.http.slots import AllTaken
from catalog.site.http.streamed import LONGEST


def wrap(app: App, datasette: Any) -> App:
    """Return the application, in which a question about tables waits for a slot, or is refused."""

    async def waiting(scope: Any, receive: Any, send: Send) -> None:
        found = http_catalog.find(datasette)
        if (
            scope["type"] != "http"
            or not found
            or http_catalog.below(datasette, scope["path"]) is None
        ):
            await app(scope, receive, send)
            return
        try:
            await found.tables.take()
        except AllTaken:
            await errors.refusal(
                datasette,
                scope["path"],
                "The catalog is busy; try again later.",
                503,
                {"Retry-After": "5"},
            ).asgi_send(send)
            return
        is_export = b"_stream" in scope["query_string"]
        await _Turn(app, send, found.tables.free, is_export).run(
            _in_usual_pages(scope) if is_export else scope, receive
        )

    return waiting


def _in_usual_pages(scope: Any) -> Any:
    """Let an export be read in pages of the usual size: row by row it would take minutes."""
    asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    kept = [(name, value) for name, value in asked if name != "_size"]
    return {**scope, "query_string": urlencode(kept).encode()}


class _Turn:
    """One question that has a slot: until its answer begins, or to the end of an export."""

    def __init__(self, app: App, send: Send, free: Any, is_export: bool) -> None:
        self._app, self._send, self._free, self._is_export = app, send, free, is_export
        self._is_free = False

    async def run(self, scope: Any, receive: Any) -> None:
        try:
            async with asyncio.timeout(LONGEST):
                await self._app(scope, receive, self._told)
        finally:
            self._give_back()

    async def _told(self, message: Message) -> None:
        if not self._is_export:
            self._give_back()
        await self._send(message)

    def _give_back(self) -> None:
        if not self._is_free:
            self._is_free = True
            self._free()
