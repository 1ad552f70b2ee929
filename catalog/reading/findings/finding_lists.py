"""Lists of findings, worst first."""

from collections.abc import Sequence

from catalog.database.expressions import IS_NEWEST
from catalog.database.queries import Database, Row
from catalog.model.values import SEVERITIES
from catalog.text.humanize import count
from catalog.text.suggestions import few

PAGE = 40
"""Rows of a list on one page."""


def findings(db: Database, skill: int) -> list[Row]:
    """Return the findings of a skill, worst first; those that reject it are the first of these."""
    query = f"SELECT * FROM findings WHERE {_OF_SKILL} ORDER BY {_WORST_FIRST}, id"
    return db.rows(query, {"skill": skill})


def listed_findings(
    db: Database, *, skill: int | None = None, code: str = "", place: str | None = None
) -> list[Row]:
    """Return the findings, or those of a skill, a code or a place of no skill, in their order."""
    return db.rows(
        "SELECT root, folder, path, line, severity, code, profile, message, fix FROM findings"
        f" WHERE (:skill IS NULL OR {_OF_SKILL}) AND (:code = '' OR code = :code)"
        " AND (:place IS NULL OR skill IS NULL AND :place IN (folder, root || '/' || folder))"
        " ORDER BY root, folder, id",
        {"skill": skill, "code": code, "place": place},
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
        "SELECT root, folder, path, line, code, severity, message, fix FROM findings"
        f" WHERE skill IS NULL ORDER BY {_WORST_FIRST}, root, folder, id LIMIT ? OFFSET ?",
        [PAGE, (page - 1) * PAGE],
    )


# Findings about a folder that cannot be read are of no skill, also while its last version stays.
_OF_SKILL = """
    (skill = :skill OR skill IS NULL AND (root, folder) =
        (SELECT root, path FROM skills WHERE id = :skill))
"""
_RANK = " ".join(f"WHEN '{word}' THEN {rank}" for rank, word in enumerate(SEVERITIES))
_WORST_FIRST = f"CASE severity {_RANK} END"
MOST_KINDS = 3
"""Kinds of danger that one sentence names."""


def sentence(findings: Sequence[Row]) -> str:
    """Return one sentence about the dangers of a skill; empty if it has none."""
    codes = [row["code"] for row in findings if row["severity"] == "danger"]
    kinds = [code.replace("-", " ") for code in dict.fromkeys(codes)]
    return f"{count(len(codes), 'danger')}: {few(kinds, MOST_KINDS)}." if kinds else ""


WORST = f"""
    CASE min({_WORST_FIRST})
    WHEN 0 THEN 'danger' WHEN 1 THEN 'warning' WHEN 2 THEN 'warning' WHEN 3 THEN 'info' END
"""
"""Worst severity of findings about safety, as an SQL expression over their rows."""
