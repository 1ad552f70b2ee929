"""Skills with the same files or the same description, and those with a similar body.

Removed skills are left out: their folders are gone.
"""

import json
from typing import NamedTuple

from catalog.database.queries import Database, Row, to_json
from catalog.reading.search import word_search
from catalog.reading.search.filters import Filters
from catalog.text.differences import SIMILAR, pieces_of, similarity

PAGE = 30
"""Groups on one page."""
SHOWN = 6
"""Skills of a group that are listed; the others are counted."""
KINDS = ("content", "description")
COMPARED = 30
"""Skills found by the words of a description, whose bodies are compared."""


class Group(NamedTuple):
    """Skills that resemble each other."""

    skills: list[Row]  # at most SHOWN, active ones first
    size: int


def groups(db: Database, kind: str, page: int) -> tuple[list[Group], int]:
    """Return a page of the groups of one of KINDS, largest first, and the number of all groups."""
    column = "digest" if kind == "content" else "description"
    found = [json.loads(ids) for (ids,) in db.execute(_EQUAL.format(_VALUES[column], column))]
    found.sort(key=lambda ids: (-len(ids), min(ids)))
    shown = found[(page - 1) * PAGE : page * PAGE]
    return [Group(db.rows(_SHOWN, [to_json(ids), SHOWN]), len(ids)) for ids in shown], len(found)


def same(db: Database, skill: Row) -> list[Row]:
    """Return the skills under other identifiers with the same files, active ones first."""
    return db.rows(_SAME, {"digest": skill["digest"], "skill_id": skill["skill_id"]})


def similar(db: Database, skill: Row) -> list[Row]:
    """Return the skills under other identifiers with similar bodies, most similar first.

    Each row has its `percent`: 100 for the same files, else at most 99. The bodies of the skills
    are compared that a search for the name and the description finds first.
    """
    words = f"{skill['name']} {skill['description']}"
    filters = Filters(status=("active", "shadowed"))
    found = [hit.id for hit in word_search.search(db, words, COMPARED, filters=filters).hits]
    rows = {row["id"]: row for row in db.query(_COMPARED, [to_json([skill["id"], *found])])}
    own = rows.pop(skill["id"])
    others = (row for row in rows.values() if row["skill_id"] != skill["skill_id"])
    compared = [row | {"percent": _percent(own, row)} for row in others]
    return sorted(
        (row for row in compared if row["percent"] >= 100 * SIMILAR),
        key=lambda row: (-row["percent"], row["status"] != "active", row["name"], row["id"]),
    )


def _percent(skill: Row, other: Row) -> int:
    """Return the similarity of another skill, rounded down."""
    if skill["digest"] == other["digest"]:
        return 100
    one, two = (pieces_of(row["body"] or "") for row in (skill, other))
    return min(int(100 * similarity(one, two)), 99)


_COLUMNS = "s.id, s.skill_id, s.name, s.description, s.status, s.level, s.root, s.path, s.digest"
_SHOWN = f"""
    SELECT {_COLUMNS} FROM json_each(?) AS wanted JOIN skills AS s ON s.id = wanted.value
    ORDER BY s.status != 'active', s.level_rank, s.name, s.root, s.path LIMIT ?
"""
_SAME = f"""
    SELECT {_COLUMNS} FROM skills AS s
    WHERE s.digest = :digest AND s.digest != '' AND s.status != 'removed'
        AND s.skill_id != :skill_id
    ORDER BY s.status != 'active', s.level_rank, s.name, s.root, s.path LIMIT 100
"""
_COMPARED = f"""
    SELECT {_COLUMNS}, (SELECT body FROM searched_texts WHERE id = s.id) AS body
    FROM json_each(?) AS wanted CROSS JOIN skills AS s ON s.id = wanted.value
"""
_EQUAL = """
    SELECT json_group_array(id) FROM skills WHERE status != 'removed' AND {}
    GROUP BY {} HAVING count(*) > 1
"""
_VALUES = {
    # Read from an index, of which few rows of the table are then looked up.
    "digest": "digest IN (SELECT digest FROM skills WHERE digest != ''"
    " GROUP BY digest HAVING count(*) > 1)",
    "description": "description != ''",
}
