"""Bare names of skills in namespaces: `csv-profile` for `team-a:csv-profile`."""

from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.text.suggestions import few, shown


def skill_id_of(db: Database, name: str) -> str | None:
    """Return the skill_id of the only or the preferred active skill with a bare name, else None.

    Raises NotInCatalog if there are several and none is preferred; it lists their names.
    """
    found = all_of(db, name)
    if len(found) > 1 and found[0][2] is None:
        raise NotInCatalog(
            f"{len(found)} skills have the name {shown(name)}: "
            f"{few([qualified for _, qualified, _ in found])}. Give the name with its namespace; "
            "`skilldrop prefer PATH` makes the bare name mean one of them."
        )
    return str(found[0][0]) if found else None


def all_of(db: Database, name: str) -> list[tuple[str, str, str | None]]:
    """Return skill_id, name and time of preference of the active skills with a bare name."""
    return db.execute(_ACTIVE, [name]).fetchall()


_ACTIVE = """
    SELECT skill_id, name, preferred_at FROM skills
    WHERE bare_name = ? AND namespace IS NOT NULL AND status = 'active'
    ORDER BY preferred_at IS NULL, preferred_at DESC, name
"""
