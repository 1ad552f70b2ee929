"""Measurements of the catalog for monitoring; each query stays fast with 20,000 skills."""

from pathlib import Path
from typing import Any, NamedTuple

from catalog.database import stored_health
from catalog.database.queries import Database
from catalog.database.sql import Row
from catalog.reading import status

NEWEST = 1000
"""Newest ingestions whose durations are measured."""


class Measurements(NamedTuple):
    """Numbers of a catalog at one moment, with the health that `stored_health.load` returned."""

    state: dict[str, Any]
    skills: dict[str, int]  # by status
    findings: dict[str, int]  # by severity
    indexes: list[Row]
    scan: Row  # the number of scans that have ended, and the duration of the last one
    ingestions: int  # since the beginning
    ingestion_ms: list[float]  # of the newest ones, sorted
    requests: int  # of commands, that wait
    packages: int
    package_bytes: int


def load(db: Database, catalog: Path) -> Measurements:
    """Return the measurements of a catalog, which may have a health file beside it."""
    return Measurements(
        stored_health.load(db, catalog),
        {str(name): number for name, number in status.counts(db).items()},
        dict(db.execute("SELECT severity, count(*) FROM findings GROUP BY severity").fetchall()),
        list(db.query(_INDEXES)),
        next(iter(db.query(_SCAN))),
        # The newest row is never deleted, so its id is the number of all rows.
        _number(db, "SELECT ifnull(max(id), 0) FROM ingestions"),
        sorted(ms for (ms,) in db.execute(_NEWEST, [NEWEST])),
        _number(db, "SELECT count(*) FROM requests WHERE finished_at IS NULL"),
        *db.execute(_PACKAGES).fetchone(),
    )


def _number(db: Database, query: str) -> int:
    return int(db.execute(query).fetchone()[0])


_INDEXES = """
    SELECT i.name, b.full, b.shortened, b.name_only, b.left_out, b.published_at, t.chars,
           t.estimated_tokens
    FROM indexes AS i JOIN index_builds AS b ON b.id = i.last_build_id
    JOIN index_texts AS t ON t.sha256 = b.sha256 ORDER BY i.position
"""
_SCAN = """
    SELECT ifnull(max(id), 0) AS number, took_ms FROM scans WHERE took_ms IS NOT NULL
"""
_NEWEST = "SELECT took_ms FROM ingestions ORDER BY id DESC LIMIT ?"
_PACKAGES = "SELECT count(*), ifnull(sum(bytes), 0) FROM versions WHERE package_path IS NOT NULL"
