"""Requests of commands, which the process that writes the catalog carries out."""

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, cast

from catalog.database.lock import is_locked, is_same_file, lock_of
from catalog.database.queries import Database, to_json
from catalog.model.errors import CatalogUnusable, NotPossible
from catalog.model.values import Json
from catalog.text.humanize import iso

PATIENCE = 30.0
"""Seconds that a command waits for its request to start."""
_POLL = 0.05
_SILENT = timedelta(seconds=10)  # twice the time between two heartbeats
_UNDONE = "The service runs but does not answer; nothing was changed. See `skilldrop status`."
ENDED = "The service ended before it was done. Try again."


class Request(NamedTuple):
    """Request that waits."""

    id: int
    action: str
    arguments: dict[str, Json]


def ask(
    catalog: Path,
    action: str,
    arguments: Mapping[str, Json],
    patience: float = PATIENCE,
    waiting: Callable[[int], None] = lambda _: None,
) -> Any:
    """Send a request to the service, wait until it is done, and return the result, from JSON.

    waiting is called with the seconds waited so far. Raises NotPossible where the request fails,
    where the service ends meanwhile, or where the request does not start within `patience`
    seconds; it is then withdrawn. Raises CatalogUnusable.
    """
    try:
        opened = catalog.stat()
        with closing(
            sqlite3.connect(
                f"{catalog.absolute().as_uri()}?mode=rw", uri=True, timeout=10, isolation_level=None
            )
        ) as connection:
            request = connection.execute(
                "INSERT INTO requests (action, arguments, asked_at) VALUES (?, ?, ?)",
                [action, to_json(arguments), iso(datetime.now(UTC))],
            ).lastrowid
            (pid,) = connection.execute("SELECT service_pid FROM health").fetchone()
            with suppress(OSError, TypeError):  # it starts now, or it is not this user's
                os.kill(pid, signal.SIGURG)  # any other process ignores it
            for seconds in _until_answered(connection, request, patience):
                waiting(int(seconds))
                if not is_same_file(catalog, opened) or _has_ended(connection, catalog):
                    raise NotPossible(_UNDONE if _withdrawn(connection, request) else ENDED)
            values: dict[str, Json] = json.loads(_result(connection, request) or "{}")
    except sqlite3.DatabaseError as error:
        raise CatalogUnusable(f"{catalog} cannot be used: {error}.") from error
    if "error" in values:
        raise NotPossible(str(values["error"]))
    return values["done"]


def _until_answered(
    connection: sqlite3.Connection, request: int | None, patience: float
) -> Iterator[float]:
    """Wait for the result, and yield the seconds waited so far."""
    began = time.monotonic()
    try:
        while _result(connection, request) is None:
            waited = time.monotonic() - began
            if waited >= patience and _withdrawn(connection, request):
                raise NotPossible(_UNDONE)
            yield waited
            time.sleep(_POLL)
    except KeyboardInterrupt:
        _withdrawn(connection, request)
        raise


def _result(connection: sqlite3.Connection, request: int | None) -> str | None:
    row = connection.execute("SELECT result FROM requests WHERE id = ?", [request]).fetchone()
    if row is None:  # it was dropped after a long wait, as on a machine that slept
        raise NotPossible(_UNDONE)
    return cast(str | None, row[0])


def _withdrawn(connection: sqlite3.Connection, request: int | None) -> bool:
    """Withdraw a request; return False where it has started already."""
    return (
        connection.execute(
            "DELETE FROM requests WHERE id = ? AND started_at IS NULL", [request]
        ).rowcount
        == 1
    )


def _has_ended(connection: sqlite3.Connection, catalog: Path) -> bool:
    """Return whether the service was stopped or killed.

    Checks its lock only after a long silence, as a starting service may be taking it.
    """
    pid, seen = connection.execute("SELECT service_pid, service_seen FROM health").fetchone()
    is_silent = not seen or datetime.fromisoformat(seen) < datetime.now(UTC) - _SILENT
    return (pid is None or is_silent) and not is_locked(lock_of(catalog))


class Requests:
    """The table of requests, as the service answers them."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def waiting(self, now: datetime) -> list[Request]:
        """Return the requests that have not started; remove those whose command no longer waits."""
        self._db.execute(
            "DELETE FROM requests WHERE started_at IS NULL AND asked_at < ?",
            [iso(now - timedelta(seconds=2 * PATIENCE))],
        )
        return [
            Request(row["id"], row["action"], json.loads(row["arguments"]))
            for row in self._db.query(
                "SELECT id, action, arguments FROM requests WHERE finished_at IS NULL"
                " AND started_at IS NULL ORDER BY id"
            )
        ]

    def begin(self, request: Request, at: datetime) -> bool:
        """Record the start of a request; return False where its command has withdrawn it."""
        return (
            self._db.execute(
                "UPDATE requests SET started_at = ? WHERE id = ? AND started_at IS NULL",
                [iso(at), request.id],
            ).rowcount
            == 1
        )

    def finish(
        self, request: Request, at: datetime, *, done: Json = None, error: str | None = None
    ) -> None:
        """Store the result of a request, for its command to read."""
        result: dict[str, Json] = {"done": done} if error is None else {"error": error}
        self._db.execute(
            "UPDATE requests SET result = ?, finished_at = ? WHERE id = ?",
            [to_json(result), iso(at), request.id],
        )

    def abandon(self, at: datetime) -> None:
        """Answer the requests that an earlier service started and did not finish."""
        self._db.execute(
            "UPDATE requests SET result = ?, finished_at = ?"
            " WHERE started_at IS NOT NULL AND finished_at IS NULL",
            [to_json({"error": ENDED}), iso(at)],
        )
