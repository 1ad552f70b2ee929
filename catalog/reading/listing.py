"""Lists of skills and findings, whole and in order; reads only."""

from catalog.database.queries import Database
from catalog.database.sql import Row
from catalog.reading import browse, index_views, versions
from catalog.reading.filters import Filters


def skills(db: Database, filters: Filters) -> list[Row]:
    """Return the skills that pass the filters, by name."""
    return list(
        db.query(
            "SELECT s.name, s.skill_id, s.status, s.level, s.root, s.path, v.version,"
            " s.description FROM skills AS s LEFT JOIN versions AS v ON v.id ="
            f" s.current_version_id WHERE {filters.condition} ORDER BY s.name, s.root, s.path",
            filters.values,
        )
    )


def states(db: Database, name: str) -> list[Row]:
    """Return the state of each folder with the skill_id of a skill, the given skill first.

    Each has its `details`. Raises NotInCatalog.
    """
    asked = versions.find_skill(db, name)
    rows = list(db.query(_STATES, [asked["skill_id"], asked["id"]]))
    return [row | details(db, row) for row in rows]


def details(db: Database, skill: Row) -> dict[str, list[Row]]:
    """Return the places of a skill in the `indexes`, its `findings` and the `left_out_files`."""
    is_active = skill["status"] == "active"
    return {
        "indexes": index_views.index_states(db, skill["id"]) if is_active else [],
        "findings": findings(db, skill=skill["id"]),
        "left_out_files": browse.left_out_files(db, skill["id"]),
    }


def findings(db: Database, *, skill: int | None = None, code: str = "") -> list[Row]:
    """Return the findings, or only those of a skill or of a code; reasons of a rejection first."""
    return list(
        db.query(
            "SELECT root, folder, path, line, severity, code, profile, message, fix FROM findings"
            " WHERE (:skill IS NULL OR skill = :skill) AND (:code = '' OR code = :code)"
            " ORDER BY root, folder, id",
            {"skill": skill, "code": code},
        )
    )


_STATES = """
    SELECT s.id, s.name, s.skill_id, s.status, s.status_reason, s.is_conflict, s.level, s.root,
           s.path, s.spec_valid, s.model_invocable, s.pending_since, s.pending_reason,
           s.newest_rejected_at, s.last_changed, v.version,
           (SELECT version FROM versions WHERE id = s.pinned_version_id) AS pinned_version
    FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id
    WHERE s.skill_id = ? ORDER BY s.id = ? DESC, s.status, s.root, s.path
"""
