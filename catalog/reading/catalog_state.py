"""State of a catalog, which changes with what its pages show."""

import time
from typing import Any

from catalog.database.queries import Database

SECONDS = 60
"""Seconds after which a state counts as another one: reads are counted elsewhere."""


def of(db: Database) -> tuple[Any, ...]:
    """Return a value that is another one after a change of skills, scans, reviews or settings."""
    return (*db.execute(_STATE).fetchone(), int(time.time() / SECONDS))


_STATE = f"""
    SELECT (SELECT max(id) FROM ingestions), (SELECT max(id) FROM reviews),
           (SELECT id || ifnull(took_ms, '') FROM scans ORDER BY id DESC LIMIT 1),
           (SELECT id || ifnull(finished_at, '') FROM requests ORDER BY id DESC LIMIT 1),
           (SELECT pending_count FROM health), (SELECT json_group_array(path) FROM roots
            WHERE configured), (SELECT max(last_build_id) FROM indexes),
           {
    ", ".join(
        f"(SELECT max(last_changed) FROM skills WHERE status = '{status}')"
        for status in ("active", "shadowed", "pending", "rejected", "removed")
    )
}
"""
