"""Lists of skills and findings, whole and in order; reads only."""

from sqlite_utils import Database

from catalog.database.sql import Row
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


def findings(db: Database, *, skill: int | None = None, code: str = "") -> list[Row]:
    """Return the findings, or only those of a skill or of a code, by place and line."""
    return list(
        db.query(
            "SELECT root, folder, path, line, severity, code, profile, message, fix FROM findings"
            " WHERE (:skill IS NULL OR skill = :skill) AND (:code = '' OR code = :code)"
            " ORDER BY root, folder, path, line, id",
            {"skill": skill, "code": code},
        )
    )
