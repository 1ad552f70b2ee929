"""Sums of the counted reads, over the catalog's connection with the database of reads."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from catalog.database.queries import Database, Row, to_json

DAYS = 30
"""Days of the sums on pages."""


@dataclass(frozen=True, slots=True)
class SkillReads:
    """Reads of a skill in the last `DAYS` days, and the number of versions that were read."""

    reads: int
    versions: int
    last_day: str | None  # of all days that are kept


def of_skill(db: Database, skill_id: str, today: date) -> SkillReads | None:
    """Return the reads of a skill; None where reads are not counted, or cannot be read."""
    since = (today - timedelta(days=DAYS - 1)).isoformat()
    rows = _rows(db, _OF_SKILL, {"skill_id": skill_id, "since": since})
    return SkillReads(*rows[0]) if rows else None


@dataclass(frozen=True, slots=True)
class Usage:
    """Reads of all skills in some days."""

    skills: list[Row]  # most read first: skill_id, reads, each route; name None if unknown
    days: list[Row]  # each day, with reads: 0 where there were none
    unread: int  # active skills without a read in these days
    counted_since: str | None  # first day of which counts are kept


def of_all(db: Database, today: date, days: int, limit: int) -> Usage | None:
    """Return the reads in the last days; None where reads are not counted, or cannot be read."""
    first = today - timedelta(days=days - 1)
    values = {"since": first.isoformat(), "limit": limit}
    try:
        by_day = dict(db.execute(_BY_DAY, values).fetchall())
        return Usage(
            db.rows(_MOST_READ, values),
            [
                {"day": day, "reads": by_day.get(day, 0)}
                for day in ((first + timedelta(n)).isoformat() for n in range(days))
            ],
            db.execute(_UNREAD, values).fetchone()[0],
            db.execute("SELECT min(day) FROM usage.reads").fetchone()[0],
        )
    except sqlite3.OperationalError as error:
        if error.args == ("interrupted",):
            raise
        return None


def of_skills(db: Database, skill_ids: Sequence[str]) -> dict[str, int]:
    """Return the reads of skills in the last `DAYS` days; none where reads are not counted."""
    values = {"days": f"-{DAYS - 1} days", "skill_ids": to_json(list(skill_ids))}
    return dict(_rows(db, _OF_SKILLS, values) or ())


def most_read(db: Database, limit: int) -> list[int]:
    """Return the active skills with most reads in the last `DAYS` days."""
    values = {"days": f"-{DAYS - 1} days", "limit": limit}
    return [skill for (skill,) in _rows(db, _MOST_READ_ACTIVE, values) or ()]


def _rows(db: Database, query: str, values: dict[str, Any]) -> list[Any] | None:
    try:
        return db.execute(query, values).fetchall()
    except sqlite3.DatabaseError:  # pages of the catalog work without the counts
        return None


_OF_SKILL = """
    SELECT ifnull(sum(reads) FILTER (WHERE day >= :since), 0),
           count(DISTINCT version) FILTER (WHERE day >= :since), max(day)
    FROM usage.reads WHERE skill_id = :skill_id
"""
_OF_SKILLS = """
    SELECT skill_id, sum(reads) FROM usage.reads WHERE day >= date('now', :days)
        AND skill_id IN (SELECT value FROM json_each(:skill_ids)) GROUP BY skill_id
"""
_MOST_READ = """
    SELECT r.*, s.name FROM (
        SELECT skill_id, sum(reads) AS reads,
               ifnull(sum(reads) FILTER (WHERE route = 'http'), 0) AS http,
               ifnull(sum(reads) FILTER (WHERE route = 'mcp'), 0) AS mcp,
               ifnull(sum(reads) FILTER (WHERE route = 'command'), 0) AS command,
               ifnull(sum(reads) FILTER (WHERE route = 'agent'), 0) AS agent
        FROM usage.reads WHERE day >= :since GROUP BY skill_id
        ORDER BY reads DESC, skill_id LIMIT :limit) AS r
    LEFT JOIN skills AS s ON s.id = (
        SELECT id FROM skills WHERE skill_id = r.skill_id ORDER BY status != 'active' LIMIT 1)
    ORDER BY r.reads DESC, r.skill_id
"""
_BY_DAY = "SELECT day, sum(reads) FROM usage.reads WHERE day >= :since GROUP BY day"
_UNREAD = """
    SELECT count(*) FROM skills AS s WHERE s.status = 'active' AND NOT EXISTS (
        SELECT 1 FROM usage.reads AS r WHERE r.skill_id = s.skill_id AND r.day >= :since)
"""
_MOST_READ_ACTIVE = """
    SELECT s.id FROM (
        SELECT skill_id, sum(reads) AS reads FROM usage.reads
        WHERE day >= date('now', :days) GROUP BY skill_id) AS r
    CROSS JOIN skills AS s ON s.skill_id = r.skill_id AND s.status = 'active'
    ORDER BY r.reads DESC, s.name LIMIT :limit
"""
