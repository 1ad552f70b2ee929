"""Active skills that agents or users may start, and the names under which installers get them."""

import json
from collections.abc import Collection
from typing import Literal, TypeAlias

from catalog.database import sql
from catalog.database.expressions import INDEX_ORDER
from catalog.database.queries import Database
from catalog.database.sql import Row, to_json
from catalog.model import naming
from catalog.model.errors import NotInCatalog
from catalog.text.suggestions import shown

Starter: TypeAlias = Literal["model", "user"]

_KEY = "level_rank, -ifnull(priority, 0), name, id"
_SKILLS = """
    SELECT id, name, skill_id, display_name, description, frontmatter FROM skills AS s
    WHERE status = 'active'
"""


def page(
    db: Database, starter: Starter, limit: int, after: int | None = None
) -> tuple[list[sql.Row], int | None]:
    """Return up to `limit` skills after a row, and the row after which the next page starts.

    A skill that does not change is on exactly one page, whatever is published meanwhile. The
    second value is None on the last page. Raises NotInCatalog if the row is gone.
    """
    known = "SELECT 1 FROM skills WHERE id = ?"
    if after is not None and not db.execute(known, [after]).fetchone():
        raise NotInCatalog(f"The catalog has no skill in row {after}.")
    rest = "" if after is None else f"AND ({_KEY}) > (SELECT {_KEY} FROM skills WHERE id = :after)"
    rows = db.rows(
        f"{_SKILLS} AND {starter}_invocable = 1 {rest} ORDER BY {INDEX_ORDER} LIMIT :limit",
        {"after": after, "limit": limit + 1},
    )
    return rows[:limit], rows[limit - 1]["id"] if len(rows) > limit else None


def one(db: Database, starter: Starter, skill_id: str) -> sql.Row:
    """Return the skill with a skill_id. Raises NotInCatalog."""
    for row in db.query(f"{_SKILLS} AND {starter}_invocable = 1 AND skill_id = ?", [skill_id]):
        return row
    raise NotInCatalog(f"There is no skill {shown(skill_id)} that a {starter} may start.")


def versions(db: Database, starter: Starter) -> dict[str, int]:
    """Return the rows of the current versions by skill_id: the same while nothing changes."""
    return dict(
        db.execute(
            "SELECT skill_id, current_version_id FROM skills"
            f" WHERE status = 'active' AND {starter}_invocable = 1"
        ).fetchall()
    )


SKILL_MD = "SKILL.md"


def installable(db: Database, skill_ids: Collection[str] | None = None) -> list[Row]:
    """Return the skills in the order of an index, or only those with some skill_ids."""
    return db.rows(
        "SELECT s.skill_id, s.name, s.description, s.skill_md_name, s.skill_md_hash, s.digest,"
        " v.version, json_extract(s.file_inventory, '$.totalFiles') AS files"
        f" FROM {_CURRENT} WHERE {_STARTABLE} {_only(skill_ids)} ORDER BY {INDEX_ORDER}",
        {"skill_ids": to_json(list(skill_ids or ()))},
    )


def installable_with_paths(db: Database, skill_ids: Collection[str] | None = None) -> list[Row]:
    """Return the skills as `skills` does, each with the `paths` of its files, sorted.

    SKILL.md has this name among them, however its author wrote it.
    """
    rows = db.query(
        f"SELECT s.skill_id, json_group_array(iif(f.kind = 'skill_md', '{SKILL_MD}', f.path))"
        f" AS paths FROM {_CURRENT} JOIN files AS f ON f.version = v.id"
        f" WHERE {_STARTABLE} {_only(skill_ids)} GROUP BY s.id",
        {"skill_ids": to_json(list(skill_ids or ()))},
    )
    paths = {row["skill_id"]: sorted(json.loads(row["paths"])) for row in rows}
    return [row | {"paths": paths.get(row["skill_id"], [])} for row in installable(db, skill_ids)]


def skill_id_of_install_name(db: Database, install_name: str) -> str | None:
    """Return the skill_id of a skill by its install name; None where no skill has that name."""
    if naming.install_name(install_name) == install_name and installable(db, [install_name]):
        return install_name
    rows = db.query(
        f"SELECT s.skill_id FROM {_CURRENT} WHERE {_STARTABLE} AND (s.skill_id GLOB '*[^a-z0-9-]*'"
        f" OR s.skill_id LIKE '%--%' OR length(s.skill_id) > {naming.INSTALL_NAME_LENGTH})"
    )
    odd = (row["skill_id"] for row in rows)
    return next((each for each in odd if naming.install_name(each) == install_name), None)


_CURRENT = "skills AS s CROSS JOIN versions AS v ON v.id = s.current_version_id"
_STARTABLE = "s.status = 'active' AND s.model_invocable = 1"


def _only(skill_ids: Collection[str] | None) -> str:
    return (
        "" if skill_ids is None else "AND s.skill_id IN (SELECT value FROM json_each(:skill_ids))"
    )
