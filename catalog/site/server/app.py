"""Server of a catalog: Datasette with the site, behind limits on connections and slow clients."""

import asyncio
import gc
import logging
import os
import signal
import sqlite3
import threading
import time
from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import h11
import uvicorn
import yaml
from datasette import Response
from datasette.app import Datasette
from datasette.database import Database
from datasette.plugins import pm
from uvicorn.protocols.http.h11_impl import H11Protocol

from catalog.database import connection as database_connection
from catalog.database.connection import READ_AT_REST, read_mode
from catalog.model.errors import CatalogUnusable
from catalog.model.setting import SiteSettings
from catalog.site import address, plugin
from catalog.site.http import access, limits
from catalog.site.http import location as http_location
from catalog.site.rendering import templates
from catalog.usage import database as usage_database

log = logging.getLogger("skilldrop")

WILDCARDS = frozenset({"0.0.0.0", "::"})
"""Addresses that mean all interfaces of a machine; they are not host names."""


def serve(catalog: Path, settings: SiteSettings, *, usage: bool = True) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises NotInCatalog without a catalog, CatalogUnusable if it cannot be read, and
    NotPossible if the address is not available.
    """
    host, port = settings.host, settings.port
    database_connection.open_catalog(catalog).conn.close()
    address.check(host, port)
    if read_mode(catalog) == READ_AT_REST:
        threading.Thread(target=_end_when_written, args=(catalog,), daemon=True).start()
    # Datasette puts the path into a URI unescaped; the file name is safe, a folder's may not be.
    os.chdir(catalog.absolute().parent)
    own = () if host in WILDCARDS else (host,)
    named = settings.model_copy(update={"names": (*own, *settings.names)})
    site = application(Path(catalog.name), named, usage=usage)
    location = http_location.find(site)
    templates.prepare()
    gc.freeze()  # else each full collection stops all visitors for 50 ms
    uvicorn.run(
        usage_database.closing_with(site.app(), location.counter if location else None),
        host=host,
        port=port,
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=settings.behind_proxy,
        forwarded_allow_ips="*",
        timeout_graceful_shutdown=limits.GRACE,
        http=BoundedProtocol,
        ws="none",
        backlog=limits.MOST_CONNECTIONS,
    )


def application(
    catalog: Path,
    site: SiteSettings = SiteSettings(),  # noqa: B008  # it is frozen
    *,
    usage: bool = True,
) -> Datasette:
    """Return Datasette with the catalog as its only database, named `catalog`.

    It answers to loopback, to this machine, to its names and to the host of its URL. It opens the
    file read-only, and as immutable only if it cannot be read otherwise: an immutable file in WAL
    mode hides the changes that are still in the log.
    """
    if not pm.has_plugin(http_location.PLUGIN):  # the package is not installed
        pm.register(plugin, http_location.PLUGIN)
    # With libyaml, which needs a tenth of the time of Datasette's own loader.
    metadata = yaml.load(metadata_path().read_text("utf-8"), Loader=yaml.CSafeLoader)
    is_public = not _is_of_this_machine(site)
    metadata["allow_sql"] = not is_public if site.sql is None else site.sql
    usage = usage and _has_usage(catalog)
    of_usage = metadata.pop("queries_of_usage")
    if usage:
        metadata["databases"]["catalog"]["queries"] |= of_usage
    own = filter(None, [urlsplit(site.url or "").hostname])
    metadata["plugins"] = {
        http_location.PLUGIN: {
            "names": [*site.names, *own],
            "url": site.url or "",
            "is_public": is_public,
            "sql": site.sql,
            "usage": usage,
            "count_reads": usage,
            "reports": usage and site.reports,
        }
    }
    config: dict[str, Any] = {"config": metadata} if _HAS_CONFIG else {}
    settings = {**limits.SETTINGS, "default_allow_sql": metadata["allow_sql"]}
    datasette = Datasette([], settings=settings, metadata=metadata, **config)
    datasette.remove_database("_memory")
    database = Database(datasette, str(catalog), is_mutable=read_mode(catalog) != READ_AT_REST)
    datasette.add_database(database, name="catalog")
    return datasette


_HAS_CONFIG = "config" in signature(Datasette).parameters
"""Whether Datasette is 1.0, which takes settings and queries from a configuration."""


def _is_of_this_machine(site: SiteSettings) -> bool:
    names = all(map(address.is_loopback, (site.host, *site.names)))
    return names and not (site.url or site.behind_proxy)


def _has_usage(catalog: Path) -> bool:
    """Create the database of reads; return whether it works, and log why not."""
    path = usage_database.path_of(catalog)
    try:
        usage_database.prepare(path)
    except (sqlite3.Error, CatalogUnusable) as error:
        log.warning("Reads are not counted: %s: %s", path.absolute(), error)
        return False
    return True


def _end_when_written(catalog: Path) -> None:
    """End the site once a program writes the file, which was opened as immutable."""
    while read_mode(catalog) == READ_AT_REST:
        time.sleep(1)
    log.warning(
        "A program has begun to write %s, which was opened as immutable; the site stops and must "
        "be started again.",
        catalog,
    )
    os.kill(os.getpid(), signal.SIGTERM)


def metadata_path() -> Path:
    """Return datasette-metadata.yml: in an installed package, else at the top of the repository."""
    package = Path(__file__).parents[1]
    name = "datasette-metadata.yml"
    return package / name if (package / name).exists() else package.parents[1] / name


def _answer(status: str, message: str) -> bytes:
    return (
        f"HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(message)}\r\nConnection: close\r\n\r\n{message}"
    ).encode()


_BUSY = _answer("503 Service Unavailable", "Too many connections. Try again later.\n")
_SLOW = _answer("408 Request Timeout", "The request did not arrive in time.\n")


def _for_health(app: Any) -> Any:
    """Return the application, which answers only whether the site serves."""

    async def answered(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == access.OPEN:
            await app(scope, receive, send)
        else:
            await Response.text("Too many connections. Try again later.\n", 503).asgi_send(send)

    return answered


class BoundedProtocol(H11Protocol):
    """uvicorn's protocol with timeouts; without them it waits forever for half a request."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._timer: asyncio.TimerHandle | None = None
        self._heard = 0.0
        self._reading_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timer of the first request, and keep the limits on connections."""
        super().connection_made(transport)
        self._heard = self.loop.time()
        self._timer = self.loop.call_later(limits.REQUEST_SECONDS, self._end_request)
        opened: list[Any] = [each for each in self.connections if not each.transport.is_closing()]
        if self.client and not self.config.proxy_headers:  # all have the address of the proxy
            same = [each for each in opened if each.client[0] == self.client[0]]
            self._make_room(same, limits.MOST_OF_CLIENT)
        self._make_room(opened, limits.MOST_CONNECTIONS)

    def _make_room(self, opened: "Sequence[BoundedProtocol]", most: int) -> None:
        """Close the longest silent of too many connections; if all are busy, this one.

        The first beyond the limit get only health.
        """
        if len(opened) <= most:
            return
        if silent := [each for each in opened if each is not self and each._is_silent]:
            longest = min(silent, key=lambda each: each._heard)
            longest._cancel()
            longest._end_request()
        elif len(opened) <= most + limits.FOR_HEALTH:
            self.app = _for_health(self.app)
        else:
            self.transport.write(_BUSY)
            self.transport.close()

    @property
    def _is_silent(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timers."""
        self._cancel()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Run the timer while a part of the request is missing."""
        if self.transport.is_closing():
            return
        self._heard = self.loop.time()
        super().data_received(data)
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self._cancel()
        elif not self._timer:
            self._timer = self.loop.call_later(limits.REQUEST_SECONDS, self._end_request)

    def pause_writing(self) -> None:
        """Start the timer of a client that reads nothing."""
        super().pause_writing()
        self._reading_timer = self.loop.call_later(limits.READING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop the timer of a client that reads nothing."""
        if self._reading_timer:
            self._reading_timer.cancel()
            self._reading_timer = None
        super().resume_writing()

    def _cancel(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _end_request(self) -> None:
        self._timer = None
        if self._is_silent:
            self.transport.write(_SLOW)
            self.transport.close()
        else:
            self.transport.abort()
