"""Activity of a catalog: its scans and changes, newest first."""

import json
from collections.abc import Iterable
from typing import NamedTuple

from catalog.database.queries import Database, Row

UNITS = 30
"""Single changes and full scans on one page."""
PAGE = 50
"""Changes on one page of a list without scans, and in a feed."""
SHOWN = 8
"""Changes of a full scan that are listed, the rejected ones first."""


class Unit(NamedTuple):
    """A single change, or a full scan with its first changes."""

    last: int  # id of its newest change
    at: str
    scan: Row | None
    changes: list[Row]
    total: int


class ChangeFilter(NamedTuple):
    """Changes that are asked for: of a scan, a skill_id or a source; of all if all are empty."""

    scan: int | None = None
    skill_id: str = ""
    source: str = ""

    @property
    def is_all(self) -> bool:
        """Whether nothing narrows the changes."""
        return not any(self)


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


def chosen(db: Database, choice: ChangeFilter, before: int | None = None) -> list[Row]:
    """Return a page of the changes that are asked for, newest first; see `changes`."""
    conditions = {
        "scan": "i.scan = :scan",
        "skill_id": "i.skill IN (SELECT id FROM skills WHERE skill_id = :skill_id)",
        "source": "i.skill IN (SELECT id FROM skills WHERE source = :source)",
    }
    wanted = (conditions[key] for key, value in choice._asdict().items() if value)
    condition = next(wanted, "TRUE")
    return list(changes(db, PAGE, before, condition, **choice._asdict()))


def units(db: Database, before: int | None) -> list[Unit]:
    """Return a page of single changes and full scans, newest first."""
    single = [
        Unit(row["id"], row["started_at"], None, [row], 1)
        for row in changes(db, UNITS, before, "i.scan IS NULL")
    ]
    scans = [_of_scan(db, row) for row in db.rows(_SCANS, {"before": before})]
    return sorted([*single, *scans], key=lambda unit: -unit.last)[:UNITS]


def scan(db: Database, id_: int) -> Row | None:
    """Return a full scan."""
    return db.row("SELECT * FROM scans WHERE id = ?", [id_])


def last_scan(db: Database) -> Row | None:
    """Return the newest full scan."""
    return db.row("SELECT * FROM scans ORDER BY id DESC LIMIT 1")


def changes(
    db: Database, limit: int, before: int | None, condition: str = "TRUE", **values: object
) -> Iterable[Row]:
    """Yield changes, newest first; `before` is the id of the last one that was shown."""
    return db.query(
        "SELECT i.id, i.outcome, i.detail, i.started_at, i.took_ms, i.steps, i.root, i.path,"
        ' i."trigger" AS noticed_by, i.skill, s.skill_id, coalesce(s.name, i.path) AS name,'
        " s.status, v.version, v.id = s.current_version_id AS is_current"
        " FROM ingestions AS i LEFT JOIN skills AS s ON s.id = i.skill"
        " LEFT JOIN versions AS v ON v.id = i.version"
        f" WHERE {condition} AND i.id < coalesce(:before, i.id + 1)"
        " ORDER BY i.id DESC LIMIT :limit",
        {"limit": limit, "before": before, **values},
    )


def _of_scan(db: Database, row: Row) -> Unit:
    rejected = "i.scan = :scan AND i.outcome = 'rejected'"
    shown = list(changes(db, SHOWN, None, rejected, scan=row["id"])) if row["rejected"] else []
    others = "i.scan = :scan AND i.outcome != 'rejected'"
    shown += changes(db, SHOWN - len(shown), None, others, scan=row["id"])
    count = db.execute("SELECT count(*) FROM ingestions WHERE scan = ?", [row["id"]])
    return Unit(row["last"], row["started_at"], row, shown, count.fetchone()[0])


# The newest scans that changed something; each step of the recursion is one search in the index.
_SCANS = f"""
    WITH RECURSIVE changed (scan) AS (
        SELECT coalesce((SELECT scan FROM ingestions WHERE id < :before AND scan IS NOT NULL
                         ORDER BY id DESC LIMIT 1),
                        iif(:before IS NULL, (SELECT max(scan) FROM ingestions), NULL))
        UNION ALL
        SELECT (SELECT max(scan) FROM ingestions WHERE scan < changed.scan) FROM changed
        WHERE changed.scan IS NOT NULL LIMIT {UNITS + 1}
    ),
    numbered AS (SELECT scan, (SELECT max(id) FROM ingestions WHERE scan = changed.scan) AS last
                 FROM changed WHERE scan IS NOT NULL)
    SELECT s.*, n.last FROM numbered AS n JOIN scans AS s ON s.id = n.scan
    WHERE n.last < coalesce(:before, n.last + 1) ORDER BY n.last DESC LIMIT {UNITS}
"""


def newest_change(db: Database, skill_id: str = "") -> int:
    """Return the id of the newest change of all, or of a skill_id; 0 without one. Ids grow."""
    of_skill = "WHERE skill IN (SELECT id FROM skills WHERE skill_id = ?)" if skill_id else ""
    values = [skill_id] if skill_id else []
    newest = db.execute(f"SELECT max(id) FROM ingestions {of_skill}", values).fetchone()[0]
    return int(newest or 0)
