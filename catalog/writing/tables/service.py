"""The health row, and the rows of full scans."""

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, cast

from catalog.database.queries import to_json
from catalog.database.writer import Writer
from catalog.model.values import ChangeOutcome, Trigger
from catalog.text.humanize import iso


class HealthTable:
    """The health of the service and the catalog, as readers see it."""

    def __init__(self, db: Writer) -> None:
        """Take the catalog."""
        self._db = db

    def set(self, **fields: Any) -> None:
        """Set columns of the one health row: times as datetimes, failed work as Troubles."""
        settings = ", ".join(f"{name} = :{name}" for name in fields)
        values = {name: _stored(value) for name, value in fields.items()}
        self._db.execute(f"UPDATE health SET {settings}", values)

    def count_overflow(self) -> None:
        """Count one more overflow of the system's event queue."""
        self._db.execute("UPDATE health SET overflows = overflows + 1")


def _stored(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    return to_json([asdict(each) for each in value]) if isinstance(value, list | tuple) else value


class ScansTable:
    """The table of full scans."""

    def __init__(self, db: Writer) -> None:
        """Take the catalog."""
        self._db = db

    def begin(self, trigger: Trigger, at: datetime) -> int:
        """Add a row for a scan that begins, and return its id."""
        row = {"trigger": trigger, "started_at": iso(at)}
        return cast(int, self._db.table("scans").insert(row).last_pk)

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
        with self._db.transaction():
            row = {"took_ms": round(took_ms, 1), "seen": seen, "missed_by_events": missed_by_events}
            self._db.table("scans").update(scan, row | dict(counts))
            self._db.execute(
                "UPDATE health SET last_full_scan = ?, missed_by_events = missed_by_events + ?",
                [iso(at), missed_by_events],
            )

    def drop(self, scan: int) -> None:
        """Delete the row of a scan that changed nothing."""
        self._db.execute("DELETE FROM scans WHERE id = ?", [scan])
