"""Status of the catalog: health, counts, and the folders that need attention; reads only."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from typing import Any, get_args

from catalog.database.expressions import AWAITING_REVIEW, IS_NEWEST, NEWEST
from catalog.database.queries import Database, to_json
from catalog.listings import refusals
from catalog.model import naming
from catalog.model.finding import DEPENDENCY_MISSING, REFERENCE_BROKEN
from catalog.model.values import Status
from catalog.reading import index_views, service_health, told_skills
from catalog.reading.skills import review


def counts(db: Database) -> dict[Status, int]:
    """Return the number of skills with each status."""
    query = "SELECT value, (SELECT count(*) FROM skills WHERE status = value) FROM json_each(?)"
    return dict(db.execute(query, [to_json(get_args(Status))]).fetchall())


def findings_by_severity(db: Database) -> dict[str, int]:
    """Return the number of findings of each severity."""
    query = "SELECT severity, count(*) FROM findings GROUP BY severity"
    return dict(db.execute(query).fetchall())


def load(db: Database) -> dict[str, Any]:
    """Return health, counts, indexes, and for each key of `LISTS` its rows."""
    state = service_health.load(db)
    told = {each.path: each.summary() for each in told_skills.of_directories(db)}
    return {
        **state,
        "health": {key: value for key, value in state["health"].items() if key != "id"},
        "counts": counts(db),
        "findings": findings_by_severity(db),
        "apart": db.execute(_APART).fetchone()[0],
        "dangers": [row | {"reason": _of_danger(row)} for row in review.dangerous(db)],
        **{key: db.rows(query) for key, query in LISTS.items()},
        "indexes": [_of_index(db, row) for row in index_views.indexes(db)],
        "not_loaded": list(_not_loaded(db)),
        "links": [
            _of_directory(db, row) | {"told": told.get(row["path"])}
            for row in db.query(LISTS["links"])
        ],
    }


def _of_directory(db: Database, directory: dict[str, Any]) -> dict[str, Any]:
    """Return a row of `links`, with the entries that skilldrop did not make as `foreign`.

    Only the folder of published skills has none; the directories of agents may have any others.
    """
    foreign: set[str] = set()
    if directory["origin"] == "data":
        with suppress(OSError):  # a publication that cannot write there reports it
            foreign = {name for name in os.listdir(directory["path"]) if name[0] != "."}
        known = "SELECT name FROM links AS l JOIN linked_directories AS d ON d.id = l.directory"
        foreign -= {
            name for (name,) in db.execute(f"{known} WHERE d.path = ?", [directory["path"]])
        }
    return directory | {"taken": json.loads(directory["taken"]), "foreign": sorted(foreign)}


def _not_loaded(db: Database) -> Iterator[dict[str, str]]:
    """Yield the published skills that some clients do not load, with the reason and the fix."""
    rows = db.query(
        "SELECT f.root, f.folder AS path, f.code, f.line, f.fix FROM findings AS f"
        " JOIN skills AS s ON s.id = f.skill WHERE s.status = 'active' AND f.code IN"
        f" {tuple(refusals.REFUSED)} ORDER BY f.root, f.folder, f.id"
    )
    for (root, path), findings in groupby(rows, itemgetter("root", "path")):
        yield {"root": root, "path": path, "reason": " ".join(refusals.sentences(findings))}


def _of_index(db: Database, index: dict[str, Any]) -> dict[str, Any]:
    """Return the numbers of skills in an index, and of active ones that are not, by reason."""
    inside = sum(index[state] or 0 for state in ("full", "shortened", "name_only"))
    reasons = index_views.left_out_counts(db, index)
    return {"name": index["name"], "inside": inside, "not_inside": reasons}


def _of_danger(row: dict[str, Any]) -> str:
    """Return the dangers of a row of `review.dangerous`, who gets them, and the next step."""
    if row["waits"]:
        return f"{row['dangers']}; waits for `skilldrop review`"
    decide = f": `skilldrop review approve {naming.argument(row)}`, or `reject`"
    return f"{row['dangers']}; agents get it{decide if row['review'] != 'none' else ''}"


_APART = f"""
    SELECT count(*) FROM skills AS s INDEXED BY skills_by_pinned_version_id
    WHERE s.pinned_version_id IS NOT NULL AND s.status = 'active' AND NOT {IS_NEWEST}
"""
_SKILLS = "SELECT root, path, status_reason AS reason FROM skills WHERE {} ORDER BY root, path"
_FINDINGS = """
    SELECT root, folder AS path, message AS reason FROM findings
    WHERE code IN {} ORDER BY root, folder, id
"""
LISTS = {
    "roots": """
        SELECT r.path, level, acceptance, ifnull(m.trouble, r.trouble) AS trouble, m.url, m.ref,
               m.path AS path_in_git, m.git_commit, m.pulled_at, review, review = 'none'
               OR review != 'always' AND NOT instr(profiles, '"safety"') AS lets_dangers_pass
        FROM roots AS r LEFT JOIN mirrors AS m ON m.root = r.path
        WHERE configured = 1 ORDER BY position
    """,
    "links": """
        SELECT d.path, d.origin, d.is_copy, d.trouble,
               (SELECT count(*) FROM links WHERE directory = d.id AND is_linked = 1
                AND ifnull(former_target, '-') != '') AS linked,
               (SELECT json_group_array(name) FROM links INDEXED BY links_missing
                WHERE directory = d.id AND is_linked = 0) AS taken
        FROM linked_directories AS d ORDER BY d.origin != 'data', d.path
    """,
    "pending": """
        SELECT root, path, pending_since, pending_reason, is_held FROM skills
        WHERE pending_since IS NOT NULL ORDER BY pending_since
    """,
    "rejected": _SKILLS.format("status = 'rejected'"),
    # Each plus keeps SQLite from using an index that would cover nearly all rows.
    "newest_rejected": """
        SELECT root, path, newest_rejected_at AS since FROM skills
        WHERE newest_rejected_at IS NOT NULL AND +status IN ('active', 'shadowed')
        ORDER BY +root, path
    """,
    "rejected_in_review": f"""
        SELECT s.root, s.path, 'by ' || r.decided_by || iif(r.why IS NULL, '', ': ' || r.why)
            AS reason
        FROM versions AS v INDEXED BY versions_by_review JOIN skills AS s ON s.id = v.skill
        JOIN reviews AS r ON r.id = (SELECT max(id) FROM reviews WHERE digest = v.digest)
        WHERE v.review = 'rejected' AND v.id = {NEWEST}
            AND s.status IN ('active', 'shadowed') ORDER BY s.root, s.path
    """,
    "version_pinned": """
        SELECT s.root, s.path, v.version AS reason
        FROM skills AS s INDEXED BY skills_by_pinned_version_id
        JOIN versions AS v ON v.id = s.pinned_version_id
        WHERE s.pinned_version_id IS NOT NULL AND s.status != 'removed' ORDER BY s.root, s.path
    """,
    "awaits_review": f"""
        SELECT s.root, s.path, 'version ' || v.version || iif(s.status = 'pending',
               '; agents get none', '; agents get ' || c.version) AS reason, 1 AS waits
        FROM (SELECT v.* FROM {AWAITING_REVIEW} ORDER BY v.id) AS v
        JOIN skills AS s ON s.id = v.skill JOIN versions AS c ON c.id = s.current_version_id
        ORDER BY v.id
    """,
    "broken_references": _FINDINGS.format((REFERENCE_BROKEN.code, DEPENDENCY_MISSING.code)),
    "secrets": _FINDINGS.format(("secret-left-out", "secret-published")),
    "conflicts": _SKILLS.format("is_conflict = 1"),
    "shadowed": _SKILLS.format("status = 'shadowed'"),
    "errors": """
        SELECT root, folder, path, line, code, message, fix FROM findings
        WHERE severity = 'error' ORDER BY root, folder, id
    """,
    "not_skills": """
        SELECT root, folder AS path, code, message, fix FROM findings
        WHERE skill IS NULL AND severity != 'error' ORDER BY root, folder, id
    """,
    "recoveries": "SELECT * FROM recoveries ORDER BY recovered_at",
}
"""The lists of `load`, by key."""
