"""The rate at which a skill may get new versions."""

from datetime import datetime, timedelta

from sqlite_utils import Database

from catalog.model.quota import Quota

HOUR = timedelta(hours=1)


def seconds_until_next(db: Database, quota: Quota, skill: int, at: datetime) -> float:
    """Return how long a skill has to wait for its next version; 0 where it need not.

    A version of a time to come, made before the clock was set back, is as old as one of that past.
    """
    if quota.versions_per_hour is None:
        return 0.0
    found = db.execute(
        "SELECT ingested_at FROM versions WHERE skill = ? ORDER BY id DESC LIMIT 1 OFFSET ?",
        [skill, quota.versions_per_hour - 1],
    ).fetchone()
    age = abs(at - datetime.fromisoformat(found[0])) if found else HOUR
    return max(0.0, (HOUR - age).total_seconds())
