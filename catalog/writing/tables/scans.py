"""Rows of full scans."""

from collections.abc import Mapping
from datetime import datetime

from catalog.database.queries import Database
from catalog.database.sql import Transaction, columns
from catalog.model.values import ChangeOutcome, Trigger
from catalog.text.humanize import iso


class Scans:
    """The table of full scans."""

    def __init__(self, db: Database, transaction: Transaction) -> None:
        """Take the catalog and its transactions."""
        self._db = db
        self._transaction = transaction

    def begin(self, trigger: Trigger, at: datetime) -> int:
        """Add a row for a scan that begins, and return its id."""
        cursor = self._db.execute(
            'INSERT INTO scans ("trigger", started_at) VALUES (?, ?)', [trigger, iso(at)]
        )
        return int(cursor.lastrowid or 0)

    def finish(
        self,
        scan: int,
        at: datetime,
        took_ms: float,
        seen: int,
        counts: Mapping[ChangeOutcome, int],
        missed_by_events: int,
    ) -> None:
        """Complete the row of a scan with its counts of skill folders."""
        with self._transaction():
            values = {
                "took_ms": round(took_ms, 1),
                "seen": seen,
                "missed_by_events": missed_by_events,
            }
            row = values | dict(counts)
            self._db.execute(
                f"UPDATE scans SET ({columns(row)}) = ({', '.join('?' * len(row))}) WHERE id = ?",
                [*row.values(), scan],
            )
            self._db.execute(
                "UPDATE health SET last_full_scan = ?, missed_by_events = missed_by_events + ?",
                [iso(at), missed_by_events],
            )

    def drop(self, scan: int) -> None:
        """Delete the row of a scan that changed nothing."""
        self._db.execute("DELETE FROM scans WHERE id = ?", [scan])
