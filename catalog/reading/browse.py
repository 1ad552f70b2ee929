"""Read-only queries behind the pages of the site and the lists of commands."""

import json
import re
from collections.abc import Sequence
from pathlib import PurePath
from typing import Any

from catalog.database.expressions import AWAITING_REVIEW, FOLDER_NAME
from catalog.database.queries import Database, Row, to_json
from catalog.model.errors import FilterInvalid
from catalog.model.finding import NAME_CONFUSABLE
from catalog.model.paths import root_name
from catalog.reading import dangers, index_views, named
from catalog.reading import status as reading_status
from catalog.reading.filters import Filters
from catalog.text import suggestions
from catalog.text.humanize import count
from catalog.usage import database as usage_database
from catalog.usage import summary as usage_summary

PAGE = 50
"""Rows of a list on one page."""
FRONT = 12
"""Cards of the latest skills on the front page; other lists there have half of that."""


# Skills


def skills(
    db: Database, filters: Filters, page: int = 1, sort: str = "updated", size: int = PAGE
) -> list[int]:
    """Return a page of the skills with the filters, in an order of SORTS."""
    values = filters.values | {"limit": size, "offset": (page - 1) * size}
    rows = db.execute(
        f"SELECT s.id FROM skills AS s WHERE {filters.condition}"
        f" ORDER BY {order_by(db, sort)} LIMIT :limit OFFSET :offset",
        values,
    )
    return [skill for (skill,) in rows]


SORTS = ("relevance", "updated", "name", "size", "reads")
"""Orders of results; `size` is the tokens of SKILL.md, smallest first."""


def parse_sort(text: str) -> str:
    """Return the order that is asked for, "" for none. Raises FilterInvalid with the known ones."""
    if text and text not in SORTS:
        wrong, known = suggestions.shown(text), ", ".join(SORTS)
        raise FilterInvalid(f"Results cannot be sorted by {wrong}; known: {known}.")
    return text


def order_by(db: Database, sort: str) -> str:
    """Return the ORDER BY of skills `s`; the most read come first only where reads are counted."""
    if sort == "reads" and usage_database.is_attached(db.conn):
        return _BY_READS + _ORDERS["updated"]
    return _ORDERS.get(sort, _ORDERS["updated"])


_ORDERS = {
    "updated": "s.last_changed DESC, s.id DESC",
    "name": "s.name, s.id",
    "size": "s.estimated_tokens IS NULL, s.estimated_tokens, s.id",
}
_BY_READS = """
    ifnull((SELECT sum(reads) FROM usage.reads
            WHERE skill_id = s.skill_id AND day >= date('now', '-29 days')), 0) DESC,
"""


def skill(db: Database, skill_id: str, row: int | None = None) -> Row | None:
    """Return the skill with a skill_id, the active one if there is one, or the given row of it.

    None if no folder ever had it. `is_newest` is 0 if the folder contains other content than the
    current version; the findings are then about the folder.
    """
    chosen = "s.id = :row" if row else "TRUE"
    rows = db.query(
        f"SELECT s.*, {IS_NEWEST} AS is_newest, v.version, v.skill_md_content, v.ingested_at,"
        " v.git_commit, (SELECT url FROM mirrors WHERE root = s.root) AS repository,"
        " (SELECT path FROM mirrors WHERE root = s.root) AS repository_path,"
        f" EXISTS ({LOOKS_ALIKE}) AS looks_alike, {FOLDER_NAME} AS folder,"
        " (SELECT body FROM searched_texts WHERE id = s.id) AS body"
        " FROM skills AS s LEFT JOIN version_contents AS v ON v.id = s.current_version_id"
        f" WHERE s.skill_id = :skill_id AND {chosen} ORDER BY CASE s.status WHEN 'active' THEN 0"
        " WHEN 'pending' THEN 1 WHEN 'rejected' THEN 2 WHEN 'shadowed' THEN 3 ELSE 4 END,"
        " s.last_changed DESC, s.id LIMIT 1",
        {"skill_id": skill_id, "row": row},
    )
    return next(rows, None)


def definition(db: Database, skill: int) -> Row:
    """Return the identity and state of a skill with the product specification's names."""
    (row,) = db.query(
        "SELECT id, skillId, currentVersion, isActive FROM skill_definitions WHERE id = ?", [skill]
    )
    return row | {"isActive": bool(row["isActive"])}


def folders_of(db: Database, skill_id: str, but: int = 0) -> list[Row]:
    """Return the folders with a skill_id, without the one of a skill."""
    return db.rows(
        "SELECT id, skill_id, name, status, status_reason, is_conflict, level, root,"
        " path FROM skills WHERE skill_id = ? AND id != ? ORDER BY status, root, path",
        [skill_id, but],
    )


def left_out_files(db: Database, skill: int) -> list[Row]:
    """Return the files in a skill's folder that are part of no version, by path."""
    return db.rows(
        "SELECT path, reason, detail FROM left_out_files WHERE skill = ? ORDER BY path", [skill]
    )


def findings(db: Database, skill: int) -> list[Row]:
    """Return the findings of a skill, worst first; those that reject it are the first of these."""
    return db.rows(
        f"SELECT * FROM findings WHERE skill = ? ORDER BY {_WORST_FIRST}, id",
        [skill],
    )


# The whole catalog


def front(db: Database) -> dict[str, Any]:
    """Return the data of the front page: counts, latest, most read and awaited skills."""
    awaited = [
        skill
        for (skill,) in db.execute(
            f"SELECT v.skill FROM {AWAITING_REVIEW} ORDER BY v.id LIMIT {FRONT // 2}"
        )
    ]
    read = usage_summary.most_read(db, FRONT // 2)
    return {
        "counts": reading_status.counts(db),
        "latest": cards_of(db, skills(db, Filters(), size=FRONT)),
        "most_read": cards_of(db, list(read)),
        "reads": read,
        "awaited": cards_of(db, awaited),
    }


def finding_codes(db: Database) -> list[Row]:
    """Return each kind of present finding with its counts, worst and most frequent first."""
    return db.rows(
        "SELECT code, severity, profile, count(*) AS n, count(DISTINCT skill) AS skills"
        " FROM findings GROUP BY code, severity, profile"
        f" ORDER BY {_WORST_FIRST}, n DESC, code"
    )


def not_skills(db: Database, page: int = 1) -> list[Row]:
    """Return a page of the findings about files in the roots that are part of no skill."""
    return db.rows(
        "SELECT root, folder, path, code, severity, message, fix FROM findings"
        " WHERE skill IS NULL ORDER BY root, folder, id LIMIT ? OFFSET ?",
        [PAGE, (page - 1) * PAGE],
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


_WORST_FIRST = "CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END"


# Whole lists for commands


def listed_skills(db: Database, filters: Filters) -> list[Row]:
    """Return the skills that pass the filters, by name."""
    return db.rows(
        "SELECT s.name, s.skill_id, s.status, s.level, s.root, s.path, v.version,"
        " s.description FROM skills AS s LEFT JOIN versions AS v ON v.id ="
        f" s.current_version_id WHERE {filters.condition} ORDER BY s.name, s.root, s.path",
        filters.values,
    )


def folder_states(db: Database, name: str) -> list[Row]:
    """Return the state of each folder with the skill_id of a skill, the given skill first.

    Each has its `details`. Raises NotInCatalog.
    """
    asked = named.find_skill(db, name)
    rows = db.rows(_STATES, [asked["skill_id"], asked["id"]])
    return [row | details(db, row) for row in rows]


def details(db: Database, skill: Row) -> dict[str, list[Row]]:
    """Return the places of a skill in the `indexes`, its `findings` and the `left_out_files`."""
    is_active = skill["status"] == "active"
    return {
        "indexes": index_views.index_states(db, skill["id"]) if is_active else [],
        "findings": listed_findings(db, skill=skill["id"]),
        "left_out_files": left_out_files(db, skill["id"]),
    }


def listed_findings(db: Database, *, skill: int | None = None, code: str = "") -> list[Row]:
    """Return the findings, or only those of a skill or of a code; reasons of a rejection first."""
    return db.rows(
        "SELECT root, folder, path, line, severity, code, profile, message, fix FROM findings"
        " WHERE (:skill IS NULL OR skill = :skill) AND (:code = '' OR code = :code)"
        " ORDER BY root, folder, id",
        {"skill": skill, "code": code},
    )


_STATES = """
    SELECT s.id, s.name, s.skill_id, s.status, s.status_reason, s.is_conflict, s.level, s.root,
           s.path, s.spec_valid, s.model_invocable, s.pending_since, s.pending_reason,
           s.newest_rejected_at, s.last_changed, v.version,
           (SELECT version FROM versions WHERE id = s.pinned_version_id) AS pinned_version
    FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id
    WHERE s.skill_id = ? ORDER BY s.id = ? DESC, s.status, s.root, s.path
"""


# Cards

LOOKS_ALIKE = f"SELECT 1 FROM findings WHERE skill = s.id AND code = '{NAME_CONFUSABLE.code}'"
"""Whether a skill `s` has a name that looks like another one, as a subquery."""
IS_NEWEST = "(s.digest IS NULL OR s.seen_digest IS NULL OR s.seen_digest = s.digest)"
"""Whether the folder of a skill `s` contains its current version, in SQL."""
_TONES = {"danger": "bad", "warning": "odd", "info": ""}
_WORDS = {"danger": "danger", "warning": "safety warning", "info": "safety note"}


def cards_of(db: Database, skills: Sequence[int]) -> list[Row]:
    """Return the rows of these skills, in their order.

    Each has `tools` and `hosts` as lists, and its findings about safety as the `safety` of a
    badge: text, explained and tone; None without findings.
    """
    return [
        row
        | {name: json.loads(row[name]) for name in ("tools", "hosts")}
        | {
            "safety": _safety(
                json.loads(row["safety"]),
                agents_get_other=row["status"] == "active" and not row["is_newest"],
            )
        }
        for row in db.query(_CARDS, {"ids": to_json(list(skills))})
    ]


def _safety(findings: Sequence[Row], *, agents_get_other: bool) -> dict[str, Any] | None:
    if not findings:
        return None
    grades = [dangers.grade(finding) for finding in findings]
    worst = min(grades, key=dangers.GRADES.index)
    codes = dict.fromkeys(row["code"] for row in findings if dangers.grade(row) == worst)
    named = ", ".join(code.replace("-", " ") for code in codes)
    return {
        "text": count(grades.count(worst), _WORDS[worst])
        + (" in new content" if agents_get_other else ""),
        "explained": (
            f"Found in the newest content of its folder; agents get an earlier version: {named}"
            if agents_get_other
            else f"Found when its files were checked for safety: {named}"
        ),
        "tone": _TONES[worst],
    }


_CARDS = f"""
    SELECT s.id, s.skill_id, s.name, s.description, s.status, s.status_reason, s.level, s.license,
           s.estimated_tokens, s.last_changed, s.has_scripts,
           iif(s.namespace IS NULL AND s.author IS NULL
               AND (SELECT count(*) FROM roots WHERE configured) = 1, NULL, s.publisher)
               AS publisher,
           {IS_NEWEST} AS is_newest, EXISTS ({LOOKS_ALIKE}) AS looks_alike,
           s.tools, s.hosts,
           (SELECT json_group_array(json_object('severity', severity, 'code', code)) FROM findings
            WHERE skill = s.id AND profile = 'safety') AS safety
    FROM json_each(:ids) AS wanted CROSS JOIN skills AS s ON s.id = wanted.value
    ORDER BY wanted.key
"""


# Paths of this machine, for readers on other machines


def disk_folders(db: Database) -> list[str]:
    """Return the roots and the data directory of a catalog."""
    paths = [path for (path,) in db.execute("SELECT path FROM roots").fetchall()]
    packages = db.execute("SELECT packages_folder FROM health").fetchone()[0]
    return [*paths, *([str(PurePath(packages).parent)] if packages else [])]


def shortened_paths(text: str, folders: Sequence[str]) -> str:
    """Return a text in which a path in one of the folders begins with the folder's own name."""
    for folder in sorted(folders, key=len, reverse=True):
        name = root_name(folder).replace("\\", r"\\")
        if name:
            text = re.sub(rf"{re.escape(folder)}(?![\w.-])", name, text)
    return text
