"""Sources of skills, with what the catalog has of each."""

from typing import Any

from catalog.database.queries import Database, Row

PAGE = 100
"""Sources on one page."""


def listed(db: Database, page: int = 1) -> list[Row]:
    """Return a page of the sources of present skills, and one more if there is one.

    Each has its kinds, the number of its active skills and of those with dangers, and the time of
    its last change; the largest come first.
    """
    return db.rows(_LISTED, [PAGE + 1, (page - 1) * PAGE])


def find(db: Database, name: str) -> dict[str, Any] | None:
    """Return a source with its `places`, `statuses` and `findings`; None if no skill has it.

    A place is a root, and the way by which its skills have this source.
    """
    places = db.rows(_PLACES, [name])
    if not places:
        return None
    statuses = "SELECT status, count(*) FROM skills WHERE source = ? COLLATE NOCASE GROUP BY 1"
    return {
        "name": name,
        "places": places,
        "statuses": dict(db.execute(statuses, [name]).fetchall()),
        "findings": db.rows(_FINDINGS, [name]),
    }


_LISTED = """
    SELECT source AS name, group_concat(DISTINCT source_kind) AS kinds,
           sum(status = 'active') AS skills, max(last_changed) AS last_changed,
           ifnull(d.skills, 0) AS dangerous
    FROM skills INDEXED BY skills_by_source LEFT JOIN (
        SELECT s.source AS of, count(DISTINCT s.id) AS skills
        FROM findings AS f INDEXED BY findings_by_severity JOIN skills AS s ON s.id = f.skill
        WHERE f.severity = 'danger' GROUP BY 1 COLLATE NOCASE) AS d ON d.of = source COLLATE NOCASE
    WHERE status != 'removed' AND source != ''
    GROUP BY source COLLATE NOCASE ORDER BY skills DESC, source LIMIT ? OFFSET ?
"""
_PLACES = """
    SELECT s.root, s.source_kind AS kind, count(*) AS skills, m.url, m.path, m.git_commit,
           m.pulled_at
    FROM skills AS s LEFT JOIN mirrors AS m ON m.root = s.root
    WHERE s.source = ? COLLATE NOCASE AND s.status != 'removed'
    GROUP BY s.root, s.source_kind ORDER BY skills DESC
"""
_FINDINGS = """
    SELECT f.severity, count(*) AS findings, count(DISTINCT s.id) AS skills
    FROM skills AS s JOIN findings AS f ON f.skill = s.id
    WHERE s.source = ? COLLATE NOCASE AND s.status != 'removed' GROUP BY f.severity
"""
