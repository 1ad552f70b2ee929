"""Notifications for clients when skills are published, changed or removed."""

import os
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from mcp.server import Server, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
)
from mcp.types import (
    EmptyResult,
    NotificationParams,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    UnsubscribeRequestParams,
)

from catalog.database import connection
from catalog.database.queries import Database
from catalog.mcp import uris
from catalog.mcp.access import protocol_errors
from catalog.model.errors import NotInCatalog, SkilldropError
from catalog.reading import offered

INTERVAL = 1.0
"""Seconds between two looks at the catalog, and from a change to its notification.

The writer commits a new version just before `current` leads to it.
"""


@dataclass(frozen=True, slots=True)
class Changes:
    """Differences between two looks at the catalog."""

    lists: tuple[ServerEvent, ...] = ()  # that have changed
    skill_ids: frozenset[str] = frozenset()  # of skills whose files may have changed


@dataclass(slots=True)
class CatalogWatch:
    """Current versions of all skills, read again when another process has committed."""

    path: Path
    _db: Database | None = None
    _seen: tuple[int, ...] = ()  # the file, and the number of its last commit
    _versions: tuple[dict[str, int], dict[str, int]] | None = None  # for models, for users

    def look(self) -> Changes:
        """Return the changes since the last look; none at the first one."""
        try:
            seen = self._position()
            if seen == self._seen:
                return Changes()
            db = self._connected(seen)
            # Before the query: a commit in between is seen by the next look.
            self._seen = (*seen[:2], *db.execute("PRAGMA data_version").fetchone())
            new = (offered.versions(db, "model"), offered.versions(db, "user"))
        except (OSError, sqlite3.Error, SkilldropError):
            self.close()
            new = ({}, {})
        old, self._versions = self._versions, new
        return Changes() if old is None else _difference(old, new)

    def close(self) -> None:
        """Close the catalog; the next look opens it again."""
        if self._db is not None:
            self._db.conn.close()
        self._db, self._seen = None, ()

    def _position(self) -> tuple[int, ...]:
        """Return device and inode of the file, and the number of its last commit if it is open."""
        at = os.stat(self.path)
        commit = self._db.execute("PRAGMA data_version").fetchone() if self._db else ()
        return (at.st_dev, at.st_ino, *commit)

    def _connected(self, seen: tuple[int, ...]) -> Database:
        if self._db is None or seen[:2] != self._seen[:2]:
            self.close()
            self._db = connection.open_catalog(self.path)
        return self._db


def _difference(
    old: tuple[dict[str, int], dict[str, int]], new: tuple[dict[str, int], dict[str, int]]
) -> Changes:
    changed = [
        frozenset(skill_id for skill_id, _ in before.items() ^ after.items())
        for before, after in zip(old, new, strict=True)
    ]
    events: tuple[ServerEvent, ...] = (ResourcesListChanged(), PromptsListChanged())
    return Changes(
        tuple(event for event, ids in zip(events, changed, strict=True) if ids),
        changed[0] | changed[1],
    )


def _of_skills(followed: Iterable[str], skill_ids: frozenset[str]) -> list[str]:
    """Return the URIs of some skills, out of those that are followed."""
    found = []
    for uri in sorted(followed):
        with suppress(NotInCatalog):
            if uris.parse(uri).skill_id in skill_ids:
                found.append(uri)
    return found


class ChangeNotifier:
    """Watcher of the catalog while a server runs, which notifies clients of changes.

    Since protocol 2026-07-28 a client opens a stream for them. An older one is notified without
    one, if it is the only client of its connection.
    """

    def __init__(self, catalog: Path) -> None:
        self._watch = CatalogWatch(catalog)
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._followed: Counter[str] = Counter()  # URIs, with the number of streams
        self._client: ServerSession | None = None
        self._client_uris: set[str] = set()

    @asynccontextmanager
    async def watching(self, _: Server[Any]) -> AsyncIterator[None]:
        """Watch for the time of the block."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._run)
            try:
                yield
            finally:
                tasks.cancel_scope.cancel()
                self._watch.close()

    async def _run(self) -> None:
        while True:
            changes = self._watch.look()
            await anyio.sleep(INTERVAL)
            await self._notify(changes)

    async def _notify(self, changes: Changes) -> None:
        for event in changes.lists:
            await self._bus.publish(event)
            if self._client and event == ResourcesListChanged():
                await self._client.send_resource_list_changed()
            elif self._client:
                await self._client.send_prompt_list_changed()
        followed = self._followed.keys() | self._client_uris
        for uri in _of_skills(followed, changes.skill_ids):
            await self._bus.publish(ResourceUpdated(uri))
            if self._client and uri in self._client_uris:
                await self._client.send_resource_updated(uri)

    # Streams, since protocol 2026-07-28

    async def listen(
        self, context: ServerRequestContext[Any], params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        """Send the changes that a client asked for until it closes the stream."""
        followed = Counter(params.notifications.resource_subscriptions or ())
        self._followed += followed
        try:
            return await self._listen(context, params)
        finally:
            self._followed -= followed

    def end_streams(self) -> None:
        """End all streams, so that a server can stop."""
        self._listen.close()

    # The one client of an older protocol

    def add_to(self, server: Server[Any]) -> None:
        """Register the methods with which an older client follows resources."""
        server.add_notification_handler(
            "notifications/initialized", NotificationParams, self._remember
        )
        server.add_request_handler("resources/subscribe", SubscribeRequestParams, self._subscribe)
        server.add_request_handler(
            "resources/unsubscribe", UnsubscribeRequestParams, self._unsubscribe
        )

    async def _remember(self, context: ServerRequestContext[Any], _: NotificationParams) -> None:
        self._client = context.session

    async def _subscribe(
        self, _: ServerRequestContext[Any], params: SubscribeRequestParams
    ) -> EmptyResult:
        with protocol_errors():
            uris.parse(params.uri)
        self._client_uris.add(params.uri)
        return EmptyResult()

    async def _unsubscribe(
        self, _: ServerRequestContext[Any], params: UnsubscribeRequestParams
    ) -> EmptyResult:
        self._client_uris.discard(params.uri)
        return EmptyResult()
