"""Rows of the requests that commands send to the process that writes the catalog."""

import json
from datetime import datetime, timedelta

from catalog.database import request_table, sql
from catalog.database.queries import Database
from catalog.database.request_table import Request
from catalog.model.values import Json
from catalog.text.times import iso


class Requests:
    """The table of requests, as the service answers them."""

    def __init__(self, db: Database) -> None:
        """Take the catalog."""
        self._db = db

    def waiting(self, now: datetime) -> list[Request]:
        """Return the requests that have not started; remove those whose command no longer waits."""
        self._db.execute(
            "DELETE FROM requests WHERE started_at IS NULL AND asked_at < ?",
            [iso(now - timedelta(seconds=2 * request_table.PATIENCE))],
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
            [sql.to_json(result), iso(at), request.id],
        )

    def abandon(self, at: datetime) -> None:
        """Answer the requests that an earlier service started and did not finish."""
        self._db.execute(
            "UPDATE requests SET result = ?, finished_at = ?"
            " WHERE started_at IS NOT NULL AND finished_at IS NULL",
            [sql.to_json({"error": request_table.ENDED}), iso(at)],
        )
