"""Notifications for clients when skills are published, changed or removed."""

import os
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Set
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
    NotificationParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
)

from catalog.database import connection
from catalog.database.queries import Database
from catalog.mcp import uris
from catalog.model.errors import NotInCatalog, SkilldropError
from catalog.reading.skills import offered

INTERVAL = 1.0
"""Seconds between two looks at the catalog, and from a change to its notification.

The writer commits a new version just before `current` leads to it.
"""


@dataclass(frozen=True, slots=True)
class Changes:
    """Differences between two looks at the catalog."""

    lists: tuple[ServerEvent, ...] = ()  # that have changed
    skill_ids: Set[str] = frozenset()  # of skills whose files may have changed


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
        old, self._versions = self._versions or new, new
        models, users = (
            {skill_id for skill_id, _ in before.items() ^ after.items()}
            for before, after in zip(old, new, strict=True)
        )
        lists: list[ServerEvent] = [ResourcesListChanged()] if models else []
        return Changes((*lists, PromptsListChanged()) if users else tuple(lists), models | users)

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


class ChangeNotifier:
    """Watcher of the catalog while a server runs, which notifies clients of changes.

    Since protocol 2026-07-28 a client opens a stream for them. An older one is notified of changed
    lists without one, if it is the only client of its connection.
    """

    def __init__(self, catalog: Path) -> None:
        self._watch = CatalogWatch(catalog)
        self._bus = InMemorySubscriptionBus()
        self._listen = ListenHandler(self._bus)
        self._followed: Counter[str] = Counter()  # URIs, with the number of streams
        self._client: ServerSession | None = None

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

    async def remember(self, context: ServerRequestContext[Any], _: NotificationParams) -> None:
        """Remember the one client of an older protocol."""
        self._client = context.session

    async def _run(self) -> None:
        while True:
            changes = self._watch.look()
            await anyio.sleep(INTERVAL)
            for event in changes.lists:
                await self._bus.publish(event)
                if self._client and event == ResourcesListChanged():
                    await self._client.send_resource_list_changed()
                elif self._client:
                    await self._client.send_prompt_list_changed()
            for uri in sorted(self._followed):
                with suppress(NotInCatalog):
                    if uris.parse(uri).skill_id in changes.skill_ids:
                        await self._bus.publish(ResourceUpdated(uri))
