"""Counter of reads in memory, which a thread adds to the database every few seconds."""

import asyncio
import logging
import sqlite3
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import date
from pathlib import Path
from typing import Any

from catalog.model.errors import CatalogUnusable
from catalog.usage import database
from catalog.usage.database import IndexRead, Read, Route, SkillRead, today

log = logging.getLogger("skilldrop")

EVERY = 2.0
"""Seconds between two transactions; a crash loses the reads since the last one."""
MOST = 100_000
"""Different reads in memory, at most; others are lost while the database cannot be written."""
ENDING = 1.0
"""Most seconds for the last transaction."""


class ReadCounter:
    """Counts of reads that are not in the database yet; no call waits for it or raises."""

    def __init__(self, path: Path, day: Callable[[], date] = today) -> None:
        """Take the path of the database, and the function that returns the day in UTC."""
        self._path, self._day = path, day
        self._counts: Counter[Read] = Counter()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._fails = False

    def count_skill(self, skill_id: str, version: str, route: Route) -> None:
        """Count a read of a version of a skill."""
        self._count(SkillRead(skill_id, version, route, self._day().isoformat()))

    def count_index(self, name: str, route: Route) -> None:
        """Count a read of a prompt index."""
        self._count(IndexRead(name, route, self._day().isoformat()))

    def write(self) -> None:
        """Add the counts to the database; after an error they stay, and one line is logged."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        if not counts:
            return
        try:
            database.add(self._path, counts, self._day())
        except (sqlite3.Error, CatalogUnusable) as error:
            if not self._fails:
                log.warning("Reads are not counted now: %s: %s", self._path, error)
            self._fails = True
            with self._lock:
                self._counts.update(counts)
        else:
            self._fails = False

    def close(self) -> None:
        """Write the last counts, in a second at most; later reads are not counted."""
        self._closed.set()
        if self._thread:
            self._thread.join(ENDING)

    def _count(self, read: Read) -> None:
        with self._lock:
            if self._closed.is_set() or (read not in self._counts and len(self._counts) >= MOST):
                return
            self._counts[read] += 1
            if not self._thread:
                self._thread = _started(self._run)

    def _run(self) -> None:
        while not self._closed.wait(EVERY):
            self.write()
        self.write()


def _started(run: Callable[[], None]) -> threading.Thread | None:
    """Return a thread that has started; None where the system allows no more threads."""
    thread = threading.Thread(target=run, name="reads", daemon=True)
    try:
        thread.start()
    except RuntimeError:
        return None
    return thread


App = Callable[[Any, Any, Any], Awaitable[None]]


def closing_with(app: App, counter: ReadCounter | None) -> App:
    """Return an ASGI application that closes the counter when its server stops."""
    if not counter:
        return app

    async def served(scope: Any, receive: Any, send: Any) -> None:
        async def sent(message: Any) -> None:
            if message["type"].startswith("lifespan.shutdown"):
                await asyncio.to_thread(counter.close)
            await send(message)

        await app(scope, receive, sent if scope["type"] == "lifespan" else send)

    return served
