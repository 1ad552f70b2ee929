"""Skills that agents may start, and the names under which installers get them."""

import json
from collections.abc import Collection

from catalog.database.expressions import INDEX_ORDER
from catalog.database.queries import Database
from catalog.database.sql import Row, to_json
from catalog.model import naming

SKILL_MD = "SKILL.md"


def skills(db: Database, skill_ids: Collection[str] | None = None) -> list[Row]:
    """Return the skills in the order of an index, or only those with some skill_ids."""
    return list(
        db.query(
            "SELECT s.skill_id, s.name, s.description, s.skill_md_name, s.skill_md_hash, s.digest,"
            " v.version, json_extract(s.file_inventory, '$.totalFiles') AS files"
            f" FROM {_SKILLS} WHERE {_STARTABLE} {_only(skill_ids)} ORDER BY {INDEX_ORDER}",
            {"skill_ids": to_json(list(skill_ids or ()))},
        )
    )


def with_paths(db: Database, skill_ids: Collection[str] | None = None) -> list[Row]:
    """Return the skills as `skills` does, each with the `paths` of its files, sorted.

    SKILL.md has this name among them, however its author wrote it.
    """
    rows = db.query(
        f"SELECT s.skill_id, json_group_array(iif(f.kind = 'skill_md', '{SKILL_MD}', f.path))"
        f" AS paths FROM {_SKILLS} JOIN files AS f ON f.version = v.id"
        f" WHERE {_STARTABLE} {_only(skill_ids)} GROUP BY s.id",
        {"skill_ids": to_json(list(skill_ids or ()))},
    )
    paths = {row["skill_id"]: sorted(json.loads(row["paths"])) for row in rows}
    return [row | {"paths": paths.get(row["skill_id"], [])} for row in skills(db, skill_ids)]


def skill_id_of(db: Database, install_name: str) -> str | None:
    """Return the skill_id of a skill by its install name; None where no skill has that name."""
    if naming.install_name(install_name) == install_name and skills(db, [install_name]):
        return install_name
    rows = db.query(
        f"SELECT s.skill_id FROM {_SKILLS} WHERE {_STARTABLE} AND (s.skill_id GLOB '*[^a-z0-9-]*'"
        f" OR s.skill_id LIKE '%--%' OR length(s.skill_id) > {naming.INSTALL_NAME_LENGTH})"
    )
    odd = (row["skill_id"] for row in rows)
    return next((each for each in odd if naming.install_name(each) == install_name), None)


_SKILLS = "skills AS s CROSS JOIN versions AS v ON v.id = s.current_version_id"
_STARTABLE = "s.status = 'active' AND s.model_invocable = 1"


def _only(skill_ids: Collection[str] | None) -> str:
    return (
        "" if skill_ids is None else "AND s.skill_id IN (SELECT value FROM json_each(:skill_ids))"
    )
