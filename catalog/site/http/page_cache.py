"""Middleware that keeps Datasette's pages of tables for as long as the catalog is unchanged.

Such a page takes some fifteen milliseconds, most of them for the same rows and facets as before.
"""

import sqlite3
import time
from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from datasette.plugins import DEFAULT_PLUGINS, pm

from catalog.site.http import header_health, reader_tokens
from catalog.site.http import location as http_catalog
from catalog.site.http.security_headers import App, Message, Send

SECONDS = 60.0
"""Most seconds for which a page is kept: a facet that was too slow once may succeed later."""
MOST_BYTES = 16 * 2**20
"""Bytes of all kept pages, above which they are dropped."""
LARGEST = 2**20
"""Bytes of a page above which it is not kept."""
_PERSONAL = frozenset({b"cookie", b"authorization"})
_INEXACT = (b"_where", b"_timelimit")
"""Parameters with which a page depends on more than the catalog."""
_OVERHEAD = 2_000
"""Approximate bytes of the headers and the key of a page."""


def wrap(app: App, datasette: Any) -> App:
    """Return the application, which repeats a page of a table if a new one would be the same.

    Each request begins with a look at the state of the catalog, under which its page is kept. So
    no repeated page is older than the newest commit, nor one that a commit has split while it was
    made: the state was another one from then on. Only pages without cookie and token are kept, and
    none if other plugins are installed: these may give readers rights, or change their pages.
    """
    location = http_catalog.find(datasette)
    if not location or not _is_plain():
        return app
    state, pages = _CatalogState(location), _Pages()

    async def kept(scope: Any, receive: Any, send: Send) -> None:
        found = await state.current() if _is_for_all(datasette, scope) else None
        if not found:
            await app(scope, receive, send)
            return
        key = _key(scope)
        if messages := pages.get(found, key):
            for message in messages:
                await send({**message})
            return
        recorder = _Recorder(send)
        await app(scope, receive, recorder.send)
        if recorder.is_page():
            pages.put(found, key, recorder.messages)

    return kept


class _CatalogState:
    """Value that is another one after every commit, and with another health in the header."""

    def __init__(self, location: http_catalog.CatalogLocation) -> None:
        self._location = location
        self._connection: sqlite3.Connection | None = None

    async def current(self) -> Hashable:
        """Return the value; None if the catalog cannot be read now."""
        try:
            if not self._connection:
                self._connection = self._location.database.connect()
                self._connection.execute("PRAGMA busy_timeout = 0")
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
            return version, await header_health.current(self._location)
        except Exception:  # noqa: BLE001  # Datasette meets it as well, and reports it
            return None


class _Recorder:
    """Record of the first messages of a response, which it passes on."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.messages: list[Message] = []

    async def send(self, message: Message) -> None:
        if len(self.messages) <= 2:
            self.messages.append(message)
        await self._send(message)

    def is_page(self) -> bool:
        """Return whether the response is a page of a moderate size, in one piece."""
        if len(self.messages) != 2:
            return False
        start, body = self.messages
        return (
            start["status"] == 200
            and not any(name.lower() == b"set-cookie" for name, _ in start["headers"])
            and not body.get("more_body")
            and len(body["body"]) <= LARGEST
        )


class _Page(NamedTuple):
    """Response that is kept."""

    messages: Sequence[Message]
    expires: float  # on the monotonic clock


class _Pages:
    """Pages of one state of the catalog."""

    def __init__(self) -> None:
        self._state: Hashable = None
        self._pages: dict[Hashable, _Page] = {}
        self._bytes = 0

    def get(self, state: Hashable, key: Hashable) -> Sequence[Message]:
        """Return the messages of a page; none if it is not kept."""
        page = self._pages.get(key) if state == self._state else None
        return page.messages if page and time.monotonic() < page.expires else ()

    def put(self, state: Hashable, key: tuple[bytes, ...], messages: Sequence[Message]) -> None:
        """Keep a page, and drop those of other states, or all if they are too large."""
        size = len(messages[-1]["body"]) + sum(map(len, key)) + _OVERHEAD
        if state != self._state or self._bytes + size > MOST_BYTES:
            self._state, self._pages, self._bytes = state, {}, 0
        self._pages[key] = _Page(tuple(messages), time.monotonic() + SECONDS)
        self._bytes += size


def _is_plain() -> bool:
    return {name for name, _ in pm.list_name_plugin()} <= {*DEFAULT_PLUGINS, http_catalog.PLUGIN}


def _is_for_all(datasette: Any, scope: Any) -> bool:
    """Return whether a request is for a list of rows or tables that is the same for all readers."""
    if scope["type"] != "http" or scope["method"] != "GET" or reader_tokens.is_guarded(scope):
        return False
    query = scope["query_string"]
    return (
        _is_list(datasette, scope["path"], query)
        and not any(name in query for name in _INEXACT)
        and not any(name.lower() in _PERSONAL for name, _ in scope["headers"])
    )


def _is_list(datasette: Any, path: str, query: bytes) -> bool:
    location, table = http_catalog.find(datasette), http_catalog.below(datasette, path)
    if not location or not table:
        return table == "" and not query  # a query may hold SQL
    return bool(datasette.table_metadata(location.database.name, table.removesuffix(".json")))


def _key(scope: Any) -> tuple[bytes, ...]:
    """Return all that a page depends on besides the catalog; its links begin with the host."""
    hosts = (value for name, value in scope["headers"] if name.lower() == b"host")
    path = scope.get("raw_path") or scope["path"].encode()
    return path, scope["query_string"], scope["scheme"].encode(), *hosts
