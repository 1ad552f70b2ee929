"""Lists of findings: of a skill, of a code, and of files that are part of no skill."""

from catalog.database.expressions import IS_NEWEST
from catalog.database.queries import Database, Row

PAGE = 50
"""Rows of a list on one page."""


def findings(db: Database, skill: int) -> list[Row]:
    """Return the findings of a skill, worst first; those that reject it are the first of these."""
    return db.rows(
        f"SELECT * FROM findings WHERE skill = ? ORDER BY {_WORST_FIRST}, id",
        [skill],
    )


def listed_findings(db: Database, *, skill: int | None = None, code: str = "") -> list[Row]:
    """Return the findings, or only those of a skill or of a code; reasons of a rejection first."""
    return db.rows(
        "SELECT root, folder, path, line, severity, code, profile, message, fix FROM findings"
        " WHERE (:skill IS NULL OR skill = :skill) AND (:code = '' OR code = :code)"
        " ORDER BY root, folder, id",
        {"skill": skill, "code": code},
    )


def finding_codes(db: Database) -> list[Row]:
    """Return each kind of present finding with its counts, worst and most frequent first."""
    return db.rows(
        "SELECT code, severity, profile, count(*) AS n, count(DISTINCT skill) AS skills"
        " FROM findings GROUP BY code, severity, profile"
        f" ORDER BY {_WORST_FIRST}, n DESC, code"
    )


def findings_of(db: Database, code: str, page: int = 1) -> list[Row]:
    """Return a page of the findings of one kind, each with its skill."""
    return db.rows(
        f"SELECT f.*, s.skill_id, s.name, s.status, {IS_NEWEST} AS is_newest, EXISTS"
        " (SELECT 1 FROM files WHERE version = s.current_version_id AND path = f.path)"
        " AS is_published"
        " FROM findings AS f LEFT JOIN skills AS s ON s.id = f.skill WHERE f.code = :code"
        " ORDER BY s.name, f.root, f.folder, f.path, f.line, f.id LIMIT :limit OFFSET :offset",
        {"code": code, "limit": PAGE, "offset": (page - 1) * PAGE},
    )


def not_skills(db: Database, page: int = 1) -> list[Row]:
    """Return a page of the findings about files in the roots that are part of no skill."""
    return db.rows(
        "SELECT root, folder, path, code, severity, message, fix FROM findings"
        " WHERE skill IS NULL ORDER BY root, folder, id LIMIT ? OFFSET ?",
        [PAGE, (page - 1) * PAGE],
    )


_WORST_FIRST = "CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END"
