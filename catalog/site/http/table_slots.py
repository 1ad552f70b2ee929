"""Middleware that limits the number of concurrent table queries.

A table query may keep a thread busy for seconds, and the same threads serve all other requests.
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
    """Return the application, in which a table query waits for a slot or is refused."""

    async def waiting(scope: Any, receive: Any, send: Send) -> None:
        location = http_catalog.find(datasette)
        if (
            scope["type"] != "http"
            or not location
            or http_catalog.below(datasette, scope["path"]) is None
        ):
            await app(scope, receive, send)
            return
        try:
            await location.tables.take()
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
        await _SlotHolder(app, send, location.tables.free, is_export).run(
            _with_default_page_size(scope) if is_export else scope, receive
        )

    return waiting


def _with_default_page_size(scope: Any) -> Any:
    """Remove the page size of an export, which would take minutes row by row."""
    parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    kept = [(name, value) for name, value in parameters if name != "_size"]
    return {**scope, "query_string": urlencode(kept).encode()}


class _SlotHolder:
    """Table query that holds a slot until its response begins, or until an export ends."""

    def __init__(self, app: App, send: Send, free: Any, is_export: bool) -> None:
        self._app, self._send, self._free, self._is_export = app, send, free, is_export
        self._is_free = False

    async def run(self, scope: Any, receive: Any) -> None:
        try:
            async with asyncio.timeout(LONGEST):
                await self._app(scope, receive, self._send_message)
        finally:
            self._free_slot()

    async def _send_message(self, message: Message) -> None:
        if not self._is_export:
            self._free_slot()
        await self._send(message)

    def _free_slot(self) -> None:
        if not self._is_free:
            self._is_free = True
            self._free()
