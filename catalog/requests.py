"""Wishes of a command, which the process that writes the catalog carries out for it."""

import json
import sqlite3
import time
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from sqlite_utils import Database

from catalog import rows
from catalog.errors import CatalogUnusable, RequestFailed
from catalog.record import Json

PATIENCE = 30.0
"""Seconds that a command waits for a wish to be taken up."""
_POLL = 0.05


class Request(NamedTuple):
    """One wish that waits."""

    id: int
    what: str
    arguments: dict[str, Json]


# The command's side

def ask(catalog: Path, what: str, arguments: Mapping[str, Json],
        patience: float = PATIENCE) -> Json:
    """Ask the service for something, wait until it is done, and return what came of it.

    Raises RequestFailed where it could not be done, or was not taken up in `patience` seconds;
    nothing is then done later either. Raises CatalogUnusable.
    """
    try:
        with closing(sqlite3.connect(f"{catalog.absolute().as_uri()}?mode=rw", uri=True,
                                     timeout=10, isolation_level=None)) as connection:
            asked = connection.execute(
                "INSERT INTO requests (what, arguments, asked_at) VALUES (?, ?, ?)",
                [what, rows.to_json(arguments), _iso(datetime.now(UTC))]).lastrowid
            return _answer(connection, asked, time.monotonic() + patience)
    except sqlite3.DatabaseError as error:
        raise CatalogUnusable(f"{catalog} cannot be used: {error}.") from error


def _answer(connection: sqlite3.Connection, asked: int | None, until: float) -> Json:
    try:
        while True:
            result, = connection.execute("SELECT result FROM requests WHERE id = ?",
                                         [asked]).fetchone()
            if result is not None:
                return _unpacked(json.loads(result))
            if time.monotonic() >= until and _withdrawn(connection, asked):
                raise RequestFailed("The service runs but does not answer; nothing was changed. "
                                    "`skilldrop status` says how it is.")
            time.sleep(_POLL)
    except KeyboardInterrupt:
        _withdrawn(connection, asked)
        raise


def _withdrawn(connection: sqlite3.Connection, asked: int | None) -> bool:
    """Take a wish back; tell whether that came in time."""
    return connection.execute("DELETE FROM requests WHERE id = ? AND started_at IS NULL",
                              [asked]).rowcount == 1


def _unpacked(result: dict[str, Json]) -> Json:
    if "error" in result:
        raise RequestFailed(str(result["error"]))
    return result["done"]


# The service's side

def waiting(db: Database, now: datetime) -> list[Request]:
    """Return the wishes that nobody has begun; those whose asker cannot wait any more go."""
    db.execute("DELETE FROM requests WHERE started_at IS NULL AND asked_at < ?",
               [_iso(now - timedelta(seconds=2 * PATIENCE))])
    return [Request(row["id"], row["what"], json.loads(row["arguments"])) for row in db.query(
        "SELECT id, what, arguments FROM requests WHERE finished_at IS NULL"
        " AND started_at IS NULL ORDER BY id")]


def begin(db: Database, request: Request, at: datetime) -> bool:
    """Note that a wish is being carried out; tell whether it is still wanted."""
    return db.execute("UPDATE requests SET started_at = ? WHERE id = ? AND started_at IS NULL",
                      [_iso(at), request.id]).rowcount == 1


def finish(db: Database, request: Request, at: datetime, *, done: Json = None,
           error: str | None = None) -> None:
    """Note what came of a wish, which its asker then reads."""
    result: dict[str, Json] = {"done": done} if error is None else {"error": error}
    db.execute("UPDATE requests SET result = ?, finished_at = ? WHERE id = ?",
               [rows.to_json(result), _iso(at), request.id])


def abandon(db: Database, at: datetime) -> None:
    """Answer the wishes that an earlier service had begun and did not end."""
    db.execute("UPDATE requests SET result = ?, finished_at = ?"
               " WHERE started_at IS NOT NULL AND finished_at IS NULL",
               [rows.to_json({"error": "The service ended before it was done. Try again."}),
                _iso(at)])


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds")
