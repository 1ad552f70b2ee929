"""Preference for one of the skills that compete for a skill_id, in the caller's transaction."""

from catalog.database.queries import Database
from catalog.database.sql import Row
from catalog.model.errors import NotInCatalog
from catalog.model.values import LEVELS
from catalog.reading import skill_folders
from catalog.text.suggestions import shown
from catalog.writing.rows import shadowing


def prefer(db: Database, folder: str, absolute: str, at: str) -> Row:
    """Give the skill of a folder its skill_id, before its rivals of the same level; return its row.

    folder is the path as a person wrote it, which may be relative to its root, and absolute its
    absolute path. The preference lasts until another rival is preferred, or the skill is removed
    or renamed. Raises NotInCatalog if there is no such folder, it has no accepted content, or a
    rival has a higher level.
    """
    skill = skill_folders.find(db, folder, absolute)
    if skill["status"] not in ("active", "shadowed"):
        raise NotInCatalog(
            f"The skill in {shown(folder)} is {skill['status']}, so it cannot have the name "
            f"{shown(skill['name'])}; `skilldrop status` reports the reason."
        )
    rivals = shadowing.rivals_of(db, [skill["skill_id"]])[skill["skill_id"]]
    first = shadowing.winner_of(rivals)
    if LEVELS.index(first["level"]) < LEVELS.index(skill["level"]):
        raise NotInCatalog(
            f"The {first['level']} skill in {first['root']}/{first['path']} has the name "
            f"{shown(skill['name'])} and a higher level than the {skill['level']} skill in "
            f"{shown(folder)}. Remove or rename one of them, or change the level of a root."
        )
    # The clock may have gone back since a rival came.
    at = max(at, *(row["name_since"] for row in rivals))
    db.execute(
        "UPDATE skills SET preferred_at = CASE id WHEN ? THEN ? END WHERE skill_id = ?"
        " AND status IN ('active', 'shadowed')",
        [skill["id"], at, skill["skill_id"]],
    )
    return skill
