"""Limit of new versions of a skill per hour."""

from datetime import datetime, timedelta

from catalog.database.queries import Database
from catalog.model.quota import Quota

HOUR = timedelta(hours=1)


def seconds_until_next(db: Database, quota: Quota, skill: int, at: datetime) -> float:
    """Return the seconds until a skill may have its next version; 0 if it may now.

    A version from the future, made before the clock was set back, counts as equally old.
    """
    if quota.versions_per_hour is None:
        return 0.0
    row = db.execute(
        "SELECT ingested_at FROM versions WHERE skill = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
        [skill, quota.versions_per_hour - 1],
    ).fetchone()
    age = abs(at - datetime.fromisoformat(row[0])) if row else HOUR
    return max(0.0, (HOUR - age).total_seconds())
