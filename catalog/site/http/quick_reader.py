"""Reader of the catalog on the thread of the event loop, for look-ups of a few rows.

Elsewhere, each look-up means two changes of threads. Under load they take longer than the rows: the
threads of Python only take turns, and a turn on another core begins with waking it.
"""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

from datasette.database import Database

LIMIT_MS = 25
"""Milliseconds for which a look-up may keep all other requests waiting before it is stopped."""
PAUSE = 1.0
"""Seconds for which a look-up that was too slow is left to other threads."""


class QuickReader:
    """Connection for the thread of the event loop, and the look-ups that were too slow for it."""

    def __init__(self, database: Database) -> None:
        self.database = copy(database)
        self.database.ds = _WithoutThreads(database.ds)
        self._slow_until: dict[Callable[..., Any], float] = {}  # on the monotonic clock

    def is_quick(self, function: Callable[..., Any]) -> bool:
        """Return whether a function has not been too slow lately."""
        return time.monotonic() >= self._slow_until.get(function, 0.0)

    @contextmanager
    def watching(self, function: Callable[..., Any]) -> Iterator[None]:
        """Note whether a call of the function in this context is too slow, or is stopped."""
        began = time.thread_time()  # others on this machine may delay a quick one
        was_stopped = False
        try:
            yield
        except sqlite3.OperationalError:
            was_stopped = True
            raise
        finally:
            if was_stopped or time.thread_time() - began > LIMIT_MS / 1000:
                self._slow_until[function] = time.monotonic() + PAUSE


class _WithoutThreads:
    """Datasette as one of its databases sees it, but without threads."""

    executor = None  # so the database runs its statements at once

    def __init__(self, datasette: Any) -> None:
        self._datasette = datasette

    def _prepare_connection(self, connection: sqlite3.Connection, name: str) -> None:
        self._datasette._prepare_connection(connection, name)
        connection.execute("PRAGMA busy_timeout = 0")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._datasette, name)
