"""The skill that would keep a name, if another one came."""

from catalog.database.queries import Database
from catalog.model.naming import qualified_name, skill_id
from catalog.model.precedence import precedence
from catalog.model.skill import Place

_LATER = "9"
"""Time after every other one, as the newcomer's."""


def holder(db: Database, name: str, place: Place, position: int) -> str | None:
    """Return the folder of the skill that has the name of a newcomer, and keeps it; else None.

    name is the newcomer's bare name, and position the order of its root.
    """
    newcomer = {
        "name": qualified_name(name, place.namespace),
        "namespace": place.namespace,
        "level": place.level,
        "path": place.path,
        "position": position,
        "preferred_at": None,
        "is_alias": 0,
        "spec_valid": 1,
        "name_since": _LATER,
    }
    rows = db.query(_HOLDER, [skill_id(name, place.namespace, place.path), place.root, place.path])
    for row in rows:
        if precedence(row) < precedence(newcomer):
            return f"{row['root']}/{row['path']}"
    return None


_HOLDER = """
    SELECT s.*, r.position FROM skills AS s JOIN roots AS r ON r.path = s.root
    WHERE s.skill_id = ? AND s.status IN ('active', 'shadowed') AND s.shadowed_by IS NULL
        AND (s.root, s.path) != (?, ?)
"""
