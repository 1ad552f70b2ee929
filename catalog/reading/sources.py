"""Sources of skills, with what the catalog has of each."""

from typing import Any

from catalog.database.queries import Database, Row

PAGE = 100
"""Sources on one page."""


def listed(db: Database, words: str = "", page: int = 1) -> list[Row]:
    """Return a page of the sources of present skills in each root, and one more if there is one.

    Their names contain the words. Each has its kinds, the number of its active skills and of those
    with dangers, and what its root has: `in_root` active skills, `changed` last. The largest roots
    come first, and in each the largest sources.
    """
    return db.rows(_LISTED, {"words": words, "limit": PAGE + 1, "offset": (page - 1) * PAGE})


def largest(db: Database, most: int) -> list[Row]:
    """Return the sources with the most active skills, each with `n` of them and `all` sources."""
    return db.rows(_LARGEST, [most])


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
    SELECT root, source AS name, group_concat(DISTINCT source_kind) AS kinds,
           sum(status = 'active') AS skills, ifnull(d.skills, 0) AS dangerous,
           sum(sum(status = 'active')) OVER of_root AS in_root,
           max(max(last_changed)) OVER of_root AS changed
    FROM skills INDEXED BY skills_by_source LEFT JOIN (
        SELECT s.root AS place, s.source AS of, count(DISTINCT s.id) AS skills
        FROM findings AS f INDEXED BY findings_by_severity JOIN skills AS s ON s.id = f.skill
        WHERE f.severity = 'danger' GROUP BY 1, 2 COLLATE NOCASE
    ) AS d ON d.place = root AND d.of = source COLLATE NOCASE
    WHERE status != 'removed' AND source != '' AND instr(lower(source), lower(:words)) > 0
    GROUP BY root, source COLLATE NOCASE WINDOW of_root AS (PARTITION BY root)
    ORDER BY in_root DESC, root, skills DESC, name LIMIT :limit OFFSET :offset
"""
_LARGEST = """
    SELECT source AS value, count(*) AS n, count(*) OVER () AS "all"
    FROM skills INDEXED BY skills_by_source WHERE status = 'active' AND source != ''
    GROUP BY source COLLATE NOCASE ORDER BY n DESC, value LIMIT ?
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
