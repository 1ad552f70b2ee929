"""Facts about one skill, for its page and for commands."""

import json
from typing import Any

from catalog.database.expressions import FOLDER_NAME, IS_NEWEST, NEWEST
from catalog.database.queries import Database, Row
from catalog.model.fields import COLUMNS, DECLARED
from catalog.prompt_index.locations import Locations
from catalog.prompt_index.query import bases_of
from catalog.reading import index_views, lookup, told_skills
from catalog.reading.findings import finding_lists
from catalog.reading.skills import install_lines, references, versions


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
        f" {FOLDER_NAME} AS folder,"
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


def folder_states(db: Database, name: str) -> list[Row]:
    """Return the state of each folder with the skill_id of a skill, the given skill first.

    Each has its `details`. Raises NotInCatalog.
    """
    asked = lookup.find_skill(db, name)
    rows = db.rows(_STATES, [asked["skill_id"], asked["id"]])
    return [row | details(db, row) for row in rows]


_STATES = f"""
    SELECT s.id, s.name, s.skill_id, s.status, s.status_reason, s.is_conflict, s.level, s.root,
           s.path, s.spec_valid, s.model_invocable, s.pending_since, s.pending_reason,
           s.newest_rejected_at, s.last_changed, v.version, {IS_NEWEST} AS is_newest,
           (SELECT version FROM versions WHERE id = s.pinned_version_id) AS pinned_version,
           (SELECT review FROM versions WHERE id = {NEWEST}) AS review
    FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id
    WHERE s.skill_id = ? ORDER BY s.id = ? DESC, s.status, s.root, s.path
"""


def details(db: Database, skill: Row) -> dict[str, list[Row]]:
    """Return the `indexes` and `agents` that have a skill, its `findings` and `left_out_files`."""
    is_active = skill["status"] == "active"
    return {
        "indexes": index_views.index_states(db, skill["id"]) if is_active else [],
        "agents": told_skills.of_skill(db, skill) if is_active else [],
        "findings": finding_lists.listed_findings(db, skill=skill["id"]),
        "left_out_files": left_out_files(db, skill["id"]),
    }


FIELDS = (
    "skill_id",
    "name",
    "description",
    "status",
    "status_reason",
    "level",
    "source",
    "root",
    "path",
    "version",
    "digest",
    "skill_md_name",
    *(name for name in DECLARED if COLUMNS[name].label),
)


def all_of(db: Database, name: str, site: str, *, needs_token: bool = False) -> dict[str, Any]:
    """Return a skill by its name or skill_id: `FIELDS`, `location`, `tags` and `details`.

    `is_newest` is false if the folder has other content than the version, to which the findings
    then refer. Also the `files` and `versions`, newest first, the names of the skills that it
    `uses`, `needs` in all, and is `used_by`, its `install` lines and `install_notes`. An active
    skill comes before any other of that name. site is the URL of the site, which ends with a
    slash. Raises NotInCatalog, which suggests the closest names.
    """
    (row,) = db.query(_SKILL, [lookup.find_skill(db, name)["id"]])
    more = details(db, row)
    present = more["findings"] if row["is_newest"] else ()
    install = install_lines.of_skill(site, row, present, needs_token=needs_token)
    version = row["current_version_id"]
    return {
        **{field: row[field] for field in FIELDS},
        "is_newest": bool(row["is_newest"]),
        "location": Locations(bases_of(db)).of_skill_md(row),
        "tags": json.loads(row["tags"]),
        **references.of_skill(db, row["id"]).names,
        "files": list(versions.files(db, version).values()),
        **more,
        "versions": [each["version"] for each in versions.of_skill(db, row["id"])],
        "install": [line._asdict() for line in install.lines],
        "install_notes": install.notes,
    }


_SKILL = f"""
    SELECT s.*, v.version, {FOLDER_NAME} AS folder, {IS_NEWEST} AS is_newest
    FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id WHERE s.id = ?
"""
