"""Retention of rows: old versions and ingestions are deleted, so that the catalog stops growing.

New rows reuse their pages; the file itself does not shrink.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from catalog.database import sql
from catalog.database.queries import Database
from catalog.text.times import iso
from catalog.writing.rows import texts
from catalog.writing.rows.version_rate import HOUR

BATCH = 500
"""Rows deleted in one transaction, so that other writers need not wait."""


@dataclass(frozen=True, slots=True)
class HistoryRetention:
    """Limits of each skill's history; rows beyond either are deleted."""

    rows: int = 200  # versions, and the same number of ingestions
    days: float = 365.0  # since a version was superseded, a skill removed, an ingestion made
    """An hour at least for versions of existing skills."""


def thin(
    db: Database,
    keep: HistoryRetention,
    at: datetime,
    transaction: sql.Transaction,
) -> int:
    """Delete rows past retention, and return the number of versions deleted. Raises sqlite3.Error.

    A version stays while it has a package, is the newest or current one of an existing skill, is
    pinned, or is the version of a run outcome. All other versions of a skill removed long ago are
    deleted; its row stays.
    """
    parameters = {
        "most": keep.rows,
        "past": iso(at - timedelta(days=keep.days)),
        # The limit of versions an hour counts the rows of that hour.
        "superseded": iso(at - max(timedelta(days=keep.days), HOUR)),
    }
    deleted = 0
    while batch := [row for (row,) in db.execute(_VERSIONS, parameters | {"limit": BATCH})]:
        with transaction():
            ids = [sql.to_json(batch)]
            db.execute(
                f"UPDATE skills SET current_version_id = NULL WHERE status = 'removed'"
                f" AND current_version_id IN {_IDS}",
                ids,
            )
            held = texts.of_versions(db.conn, batch)
            db.execute(f"DELETE FROM versions WHERE id IN {_IDS}", ids)
            texts.forget(db.conn, held)
        deleted += len(batch)
    for query in (_INGESTIONS_BY_TIME, _INGESTIONS_BY_COUNT):
        while batch := [row for (row,) in db.execute(query, parameters | {"limit": BATCH})]:
            with transaction():
                db.execute(f"DELETE FROM ingestions WHERE id IN {_IDS}", [sql.to_json(batch)])
    return deleted


_IDS = "(SELECT value FROM json_each(?))"
_VERSIONS = """
    WITH crowded AS (SELECT skill FROM versions GROUP BY skill HAVING count(*) > :most),
    candidates AS (
        SELECT id FROM versions WHERE superseded_at IS NOT NULL AND superseded_at < :superseded
        UNION
        SELECT v.id FROM crowded AS c JOIN versions AS v ON v.skill = c.skill
            AND v.id <= (SELECT n.id FROM versions AS n WHERE n.skill = c.skill
                         ORDER BY n.id DESC LIMIT 1 OFFSET :most)
        UNION
        SELECT v.id FROM skills AS s JOIN versions AS v ON v.skill = s.id
            WHERE s.status = 'removed' AND s.last_changed < :past
    )
    SELECT v.id FROM candidates AS c JOIN versions AS v ON v.id = c.id
    JOIN skills AS s ON s.id = v.skill
    WHERE v.package_path IS NULL
        AND v.id IS NOT s.pinned_version_id
        AND (s.status = 'removed' AND s.last_changed < :past
             OR v.id IS NOT s.current_version_id
                AND v.id != (SELECT max(id) FROM versions WHERE skill = s.id))
        AND NOT EXISTS (SELECT 1 FROM outcomes WHERE version = v.id)
        AND NOT EXISTS (SELECT 1 FROM skill_text WHERE version = v.id)
    LIMIT :limit
"""
_INGESTIONS_BY_TIME = """
    SELECT id FROM ingestions
    WHERE started_at < :past AND id != (SELECT max(id) FROM ingestions) LIMIT :limit
"""  # Listeners remember the last id that they were given, so ids must not be used twice.
_INGESTIONS_BY_COUNT = """
    WITH crowded AS (SELECT skill FROM ingestions WHERE skill IS NOT NULL
                     GROUP BY skill HAVING count(*) > :most)
    SELECT i.id FROM crowded AS c JOIN ingestions AS i ON i.skill = c.skill
        AND i.id <= (SELECT n.id FROM ingestions AS n WHERE n.skill = c.skill
                     ORDER BY n.id DESC LIMIT 1 OFFSET :most)
    LIMIT :limit
"""
