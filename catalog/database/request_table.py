"""Wishes of a command, which the process that writes the catalog carries out for it."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, cast

from sqlite_utils import Database

from catalog.database import sql
from catalog.database.lock import is_locked, is_same_file, lock_of
from catalog.model.errors import CatalogUnusable, RequestFailed
from catalog.model.values import Json
from catalog.text.times import iso

PATIENCE = 30.0
"""Seconds that a command waits for a wish to be taken up."""
_POLL = 0.05
_SILENT = timedelta(seconds=10)  # twice the time between two signs of life
_UNDONE = (
    "The service runs but does not answer; nothing was changed. `skilldrop status` says how it is."
)
_ENDED = "The service ended before it was done. Try again."


class Request(NamedTuple):
    """One wish that waits."""

    id: int
    what: str
    arguments: dict[str, Json]


# The command's side


def ask(
    catalog: Path,
    what: str,
    arguments: Mapping[str, Json],
    patience: float = PATIENCE,
    waiting: Callable[[int], None] = lambda _: None,
) -> Json:
    """Ask the service for something, wait until it is done, and return what came of it.

    waiting is told how many seconds that has taken so far. Raises RequestFailed where it could
    not be done, where the service ended meanwhile, or where it was not taken up in `patience`
    seconds; nothing is then done later either. Raises CatalogUnusable.
    """
    try:
        opened = catalog.stat()
        with closing(
            sqlite3.connect(
                f"{catalog.absolute().as_uri()}?mode=rw", uri=True, timeout=10, isolation_level=None
            )
        ) as connection:
            asked = connection.execute(
                "INSERT INTO requests (what, arguments, asked_at) VALUES (?, ?, ?)",
                [what, sql.to_json(arguments), iso(datetime.now(UTC))],
            ).lastrowid
            for seconds in _until_answered(connection, asked, patience):
                waiting(int(seconds))
                if not is_same_file(catalog, opened) or _has_ended(connection, catalog):
                    raise RequestFailed(_UNDONE if _withdrawn(connection, asked) else _ENDED)
            return _unpacked(_result(connection, asked))
    except sqlite3.DatabaseError as error:
        raise CatalogUnusable(f"{catalog} cannot be used: {error}.") from error


def _until_answered(
    connection: sqlite3.Connection, asked: int | None, patience: float
) -> Iterator[float]:
    """Wait, and yield again and again for how many seconds so far."""
    began = time.monotonic()
    try:
        while _result(connection, asked) is None:
            waited = time.monotonic() - began
            if waited >= patience and _withdrawn(connection, asked):
                raise RequestFailed(_UNDONE)
            yield waited
            time.sleep(_POLL)
    except KeyboardInterrupt:
        _withdrawn(connection, asked)
        raise


def _result(connection: sqlite3.Connection, asked: int | None) -> str | None:
    found = connection.execute("SELECT result FROM requests WHERE id = ?", [asked]).fetchone()
    if found is None:  # it waited for so long that it was dropped, on a machine that slept, say
        raise RequestFailed(_UNDONE)
    return cast(str | None, found[0])


def _withdrawn(connection: sqlite3.Connection, asked: int | None) -> bool:
    """Take a wish back; tell whether that came in time."""
    return (
        connection.execute(
            "DELETE FROM requests WHERE id = ? AND started_at IS NULL", [asked]
        ).rowcount
        == 1
    )


def _has_ended(connection: sqlite3.Connection, catalog: Path) -> bool:
    """Tell whether the service was stopped or killed.

    Its lock is only touched where it has been silent for long: a new one may be taking it.
    """
    pid, seen = connection.execute("SELECT service_pid, service_seen FROM health").fetchone()
    is_silent = not seen or datetime.fromisoformat(seen) < datetime.now(UTC) - _SILENT
    return (pid is None or is_silent) and not is_locked(lock_of(catalog))


def _unpacked(result: str | None) -> Json:
    found: dict[str, Json] = json.loads(result or "{}")
    if "error" in found:
        raise RequestFailed(str(found["error"]))
    return found["done"]


# The service's side


def waiting(db: Database, now: datetime) -> list[Request]:
    """Return the wishes that nobody has begun; those whose asker cannot wait any more go."""
    db.execute(
        "DELETE FROM requests WHERE started_at IS NULL AND asked_at < ?",
        [iso(now - timedelta(seconds=2 * PATIENCE))],
    )
    return [
        Request(row["id"], row["what"], json.loads(row["arguments"]))
        for row in db.query(
            "SELECT id, what, arguments FROM requests WHERE finished_at IS NULL"
            " AND started_at IS NULL ORDER BY id"
        )
    ]


def begin(db: Database, request: Request, at: datetime) -> bool:
    """Note that a wish is being carried out; tell whether it is still wanted."""
    return (
        db.execute(
            "UPDATE requests SET started_at = ? WHERE id = ? AND started_at IS NULL",
            [iso(at), request.id],
        ).rowcount
        == 1
    )


def finish(
    db: Database, request: Request, at: datetime, *, done: Json = None, error: str | None = None
) -> None:
    """Note what came of a wish, which its asker then reads."""
    result: dict[str, Json] = {"done": done} if error is None else {"error": error}
    db.execute(
        "UPDATE requests SET result = ?, finished_at = ? WHERE id = ?",
        [sql.to_json(result), iso(at), request.id],
    )


def abandon(db: Database, at: datetime) -> None:
    """Answer the wishes that an earlier service had begun and did not end."""
    db.execute(
        "UPDATE requests SET result = ?, finished_at = ?"
        " WHERE started_at IS NOT NULL AND finished_at IS NULL",
        [sql.to_json({"error": _ENDED}), iso(at)],
    )
