"""Changes of a catalog and its scans, newest first."""

import json
from typing import NamedTuple

from catalog.database.queries import Database, Row

PAGE = 50
"""Changes in a feed."""
MOST = 200
"""Changes on one page; of a full scan with more, the others are counted."""


class ChangeFilter(NamedTuple):
    """Changes that are asked for: of a scan, a skill_id, a source, since a time; else all."""

    scan: int | None = None
    skill_id: str = ""
    source: str = ""
    since: str = ""  # ISO 8601, UTC

    @property
    def condition(self) -> str:
        """SQL condition on `ingestions AS i`, whose parameters have the names of the fields."""
        conditions = {
            "scan": "i.scan = :scan",
            "skill_id": "i.skill IN (SELECT id FROM skills WHERE skill_id = :skill_id)",
            "source": "i.skill IN (SELECT id FROM skills WHERE source = :source COLLATE NOCASE)",
            "since": "i.started_at >= :since",
        }
        wanted = [conditions[key] for key, value in self._asdict().items() if value]
        return " AND ".join(wanted) or "TRUE"


class Changes(NamedTuple):
    """A page of changes, newest first."""

    rows: list[Row]
    following: int | None  # `before` of the next page
    in_scan: int = 0  # changes of the full scan of the last row that the next page leaves out


def catalog_id(db: Database) -> str:
    """Return the identifier of the catalog; empty before its first scan."""
    return db.execute("SELECT identity FROM health").fetchone()[0] or ""


def is_complete(db: Database) -> bool:
    """Return whether a full scan ended since the catalog was made, also after it was lost."""
    recoveries, is_scanned = db.execute(
        "SELECT recoveries, EXISTS (SELECT 1 FROM scans WHERE took_ms IS NOT NULL) FROM health"
    ).fetchone()
    is_open = any(each.get("packages_removed", 0) is None for each in json.loads(recoveries))
    return bool(is_scanned) and not is_open


def page(db: Database, choice: ChangeFilter, before: int | None) -> Changes:
    """Return a page of the changes that are asked for; `before` is the id of the last one shown."""
    rows = changes(db, MOST, choice, before)
    if len(rows) < MOST:
        return Changes(rows, None)
    last, scan = rows[-1]["id"], rows[-1]["scan"]
    if not scan or choice != ChangeFilter(since=choice.since):
        return Changes(rows, last)
    others = "SELECT count(*), min(id) FROM ingestions WHERE scan = ? AND id < ?"
    number, first = db.execute(others, [scan, last]).fetchone()
    return Changes(rows, first or last, number)


def number_since(db: Database, since: str) -> int:
    """Return the number of changes since a time, at most 1,000."""
    recent = "SELECT 1 FROM ingestions WHERE started_at >= ? LIMIT 1000"
    return int(db.execute(f"SELECT count(*) FROM ({recent})", [since]).fetchone()[0])


def scan(db: Database, id_: int | None) -> Row | None:
    """Return a full scan, or the newest one."""
    return db.row("SELECT * FROM scans WHERE id = ifnull(?, (SELECT max(id) FROM scans))", [id_])


def changes(db: Database, limit: int, choice: ChangeFilter, before: int | None = None) -> list[Row]:
    """Return the newest changes that are asked for, each with its differences in words."""
    return db.rows(
        "SELECT i.id, i.outcome, i.detail, i.started_at, i.root, i.path, i.scan, i.skill,"
        " s.skill_id, coalesce(s.name, i.path) AS name, s.status, s.source, s.source_kind,"
        " v.version, v.id = s.current_version_id AS is_current,"
        " iif(i.outcome IN ('added', 'updated', 'renamed', 'withheld'), v.changes, NULL)"
        " AS differences FROM ingestions AS i LEFT JOIN skills AS s ON s.id = i.skill"
        " LEFT JOIN versions AS v ON v.id = i.version"
        f" WHERE {choice.condition} AND i.id < coalesce(:before, i.id + 1)"
        " ORDER BY i.id DESC LIMIT :limit",
        {"limit": limit, "before": before, **choice._asdict()},
    )


def newest_change(db: Database, skill_id: str = "") -> int:
    """Return the id of the newest change of all, or of a skill_id; 0 without one. Ids grow."""
    of_skill = "WHERE skill IN (SELECT id FROM skills WHERE skill_id = ?)" if skill_id else ""
    values = [skill_id] if skill_id else []
    newest = db.execute(f"SELECT max(id) FROM ingestions {of_skill}", values).fetchone()[0]
    return int(newest or 0)
