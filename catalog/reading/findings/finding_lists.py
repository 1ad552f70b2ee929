"""Lists of findings, and their grades for every badge, filter and page."""

from collections.abc import Sequence

from catalog.database.expressions import IS_NEWEST
from catalog.database.queries import Database, Row
from catalog.text.humanize import count, listed

PAGE = 50
"""Rows of a list on one page."""


def findings(db: Database, skill: int) -> list[Row]:
    """Return the findings of a skill, worst first; those that reject it are the first of these."""
    query = f"SELECT * FROM findings WHERE skill = ? ORDER BY {_WORST_FIRST}, id"
    return db.rows(query, [skill])


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
KINDS = {
    "instruction-override": "instructions that override the agent",
    "hidden-from-user": "instructions to hide something from the user",
    "data-sent-away": "commands that send data away",
    "credentials-read": "commands that read credentials",
    "payload-encoded": "encoded commands",
    "download-run": "commands that download and run a program unread",
    "download-locked": "a download that no scanner can read",
    "destructive-command": "commands that delete a folder, a disk or a system",
    "protection-disabled": "commands that switch a protection off",
    "tag-characters": "an invisible message",
    "bidi-characters": "text that is displayed in another order",
    "invisible-characters": "invisible characters",
    "secret": "a key or password",
}
"""Dangerous content by the code of its findings, as the object of a sentence."""
GRADES = ("danger", "error", "warning", "info")
"""Grades of findings, worst first: danger, else their severity."""
SAFETY = ("danger", "warning", "info")
"""Grades of the findings about safety, worst first."""
MOST_KINDS = 2
"""Kinds of danger that one sentence names."""


def grade(finding: Row) -> str:
    """Return the grade of a finding, of GRADES."""
    return "danger" if finding["code"] in KINDS else str(finding["severity"])


def sentence(findings: Sequence[Row]) -> str:
    """Return one sentence about the dangerous content of a skill; empty if it has none."""
    dangers = [row["code"] for row in findings if row["code"] in KINDS]
    if not dangers:
        return ""
    kinds = list(dict.fromkeys(KINDS[code] for code in dangers))
    rest = len(kinds) - MOST_KINDS
    named = kinds[:MOST_KINDS] + (
        [count(rest, "more kind", "more kinds") + " of danger"] if rest > 0 else []
    )
    return f"Contains {listed(named)}: {count(len(dangers), 'finding')}."


CODES = ", ".join(f"'{code}'" for code in KINDS)
"""Codes of dangerous content, as a list in SQL."""
WORST = f"""
    CASE min(CASE WHEN code IN ({CODES}) THEN 0 WHEN severity = 'info' THEN 2 ELSE 1 END)
    WHEN 0 THEN 'danger' WHEN 1 THEN 'warning' WHEN 2 THEN 'info' END
"""
"""Worst grade of findings about safety, as an SQL expression over their rows."""
