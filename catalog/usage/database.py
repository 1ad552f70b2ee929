"""Counts of reads, in memory and in a database beside the catalog."""

import asyncio
import logging
import sqlite3
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import closing, suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from catalog.database.connection import read_mode
from catalog.model.errors import CatalogUnusable

APPLICATION_ID = 0x534B4455
"""`SKDU` in the header of every database of reads; other databases are never written to."""

DAYS_KEPT = 400
"""Days of counts that are kept: a year, and some weeks to compare with."""
BUSY_SECONDS = 0.5
"""Most seconds to wait for another process that writes counts."""


def today() -> date:
    """Return the day in UTC."""
    return datetime.now(UTC).date()


Route: TypeAlias = Literal["http", "mcp", "command", "agent"]
"""Way of a read; an agent reports one from the disk."""


class SkillRead(NamedTuple):
    """Read of a version of a skill, by a route, on a day in UTC such as 2026-11-22."""

    skill_id: str
    version: str
    route: Route
    day: str


_VERSION = 2
"""Version of the tables, in the header as `user_version`."""
_TABLES = (
    """
    CREATE TABLE reads (
        skill_id TEXT NOT NULL,
        version TEXT NOT NULL,
        route TEXT NOT NULL CHECK (route IN ('http', 'mcp', 'command', 'agent')),
        day TEXT NOT NULL,              -- in UTC
        reads INTEGER NOT NULL,
        PRIMARY KEY (skill_id, day, version, route)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX reads_by_day ON reads (day)",
    f"PRAGMA application_id = {APPLICATION_ID}",
    f"PRAGMA user_version = {_VERSION}",
)


def path_of(catalog: Path) -> Path:
    """Return the path of the database of reads of a catalog."""
    return catalog.with_name("usage.db")


def prepare(path: Path) -> None:
    """Create the database, if it does not exist. Raises as `add` does."""
    _connect(path).close()


def add(path: Path, counts: Mapping[SkillRead, int], today: date) -> None:
    """Add reads to the stored counts and delete old days, in one transaction.

    Raises CatalogUnusable for a database of another program or a newer release, and sqlite3.Error.
    """
    with closing(_connect(path)) as db, db:
        db.execute("BEGIN IMMEDIATE")
        db.executemany(_ADD, [(*read, number) for read, number in counts.items()])
        before = (today - timedelta(days=DAYS_KEPT)).isoformat()
        db.execute("DELETE FROM reads WHERE day < ?", [before])


def attach(connection: sqlite3.Connection, catalog: Path) -> None:
    """Attach the database of reads to a reader of the catalog, read-only as `usage`, if it exists.

    A database that cannot be read, or of another program, is left out. Only SQLite opens the file:
    closing it elsewhere in this process would release the locks of all its connections.
    """
    path = path_of(catalog).absolute()
    try:
        if not path.is_file():
            return
        connection.execute("ATTACH ? AS usage", [f"{path.as_uri()}?{read_mode(path)}"])
        if connection.execute("PRAGMA usage.application_id").fetchone()[0] == APPLICATION_ID:
            return
    except (sqlite3.Error, OSError, CatalogUnusable):
        pass  # readers need no counts; the counter logs that it cannot write them
    if is_attached(connection):
        connection.execute("DETACH usage")


def is_attached(connection: sqlite3.Connection) -> bool:
    """Return whether a connection has the database of reads."""
    return any(name == "usage" for _, name, _ in connection.execute("PRAGMA database_list"))


_ADD = """
    INSERT INTO reads (skill_id, version, route, day, reads) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET reads = reads + excluded.reads
"""


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)
    try:
        if _is_empty(connection, path):
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                # Another process may have made them.
                for statement in _TABLES if _is_empty(connection, path) else ():
                    connection.execute(statement)
        # SQLite waits for no other process here. Whoever opens the file next tries it again.
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except BaseException:
        connection.close()
        raise
    return connection


def _is_empty(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether a database has no tables. Raises CatalogUnusable for one of others."""
    tables, mark, version = (
        connection.execute(query).fetchone()[0]
        for query in (
            "SELECT count(*) FROM sqlite_master",
            "PRAGMA application_id",
            "PRAGMA user_version",
        )
    )
    if tables and (mark, version) != (APPLICATION_ID, _VERSION):
        raise CatalogUnusable(
            f"{path} is a database of another program or another version; move it away."
        )
    return not tables


# Counts in memory

log = logging.getLogger("skilldrop")

EVERY = 2.0
"""Seconds between two transactions; a crash loses the reads since the last one."""
MOST = 100_000
"""Different reads in memory, at most; others are lost while the database cannot be written."""
ENDING = 1.0
"""Most seconds for the last transaction."""


class ReadCounter:
    """Counts of reads that are not in the database yet; no call waits or raises."""

    def __init__(self, path: Path, day: Callable[[], date] = today) -> None:
        """Take the path of the database, and the function that returns the day in UTC."""
        self._path, self._day = path, day
        self._counts: Counter[SkillRead] = Counter()
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._fails = False

    def count_skill(self, skill_id: str, version: str, route: Route) -> None:
        """Count a read of a version of a skill."""
        read = SkillRead(skill_id, version, route, self._day().isoformat())
        with self._lock:
            if self._closed.is_set() or (read not in self._counts and len(self._counts) >= MOST):
                return
            self._counts[read] += 1
            if not self._thread:
                thread = threading.Thread(target=self._run, name="reads", daemon=True)
                with suppress(RuntimeError):  # no more threads now: the next read tries again
                    thread.start()
                    self._thread = thread

    def write(self) -> None:
        """Add the counts to the database; after an error they stay, and one line is logged."""
        with self._lock:
            counts, self._counts = self._counts, Counter()
        if not counts:
            return
        try:
            add(self._path, counts, self._day())
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

    def _run(self) -> None:
        while not self._closed.wait(EVERY):
            self.write()
        self.write()


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
