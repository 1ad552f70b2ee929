"""Newest recorded change of a catalog or of a skill: a page with an older one is old."""

from catalog.database.queries import Database


def of_catalog(db: Database) -> int:
    """Return the id of the newest change; 0 without one. Ids only grow."""
    return _number(db, "SELECT max(id) FROM ingestions")


def of_skill(db: Database, skill_id: str) -> int:
    """Return the id of the newest change of any skill with this skill_id; 0 without one."""
    return _number(
        db,
        "SELECT max(i.id) FROM skills AS s JOIN ingestions AS i ON i.skill = s.id"
        " WHERE s.skill_id = ?",
        skill_id,
    )


def _number(db: Database, sql: str, *values: str) -> int:
    return int(db.execute(sql, values).fetchone()[0] or 0)
