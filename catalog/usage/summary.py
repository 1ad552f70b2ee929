"""Sums of the counted reads, over the catalog's connection with the database of reads."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any, TypeAlias

from catalog.database.queries import Database

Totals: TypeAlias = Sequence[tuple[str, str, int]]
"""Reads so far: counted is `reads` or `index_reads`; then the route, and the number."""

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


def totals(db: Database) -> Totals | None:
    """Return all reads so far by route; None where reads are not counted, or cannot be read."""
    rows = _rows(db, "SELECT counted, route, reads FROM usage.totals", {})
    return None if rows is None else [tuple(row) for row in rows]


def _rows(db: Database, query: str, values: dict[str, str]) -> list[Any] | None:
    try:
        return db.execute(query, values).fetchall()
    except sqlite3.DatabaseError:  # pages of the catalog work without the counts
        return None


_OF_SKILL = """
    SELECT ifnull(sum(reads) FILTER (WHERE day >= :since), 0),
           count(DISTINCT version) FILTER (WHERE day >= :since), max(day)
    FROM usage.reads WHERE skill_id = :skill_id
"""
