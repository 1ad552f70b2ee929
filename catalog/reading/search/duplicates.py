"""Skills with the same files as one, and those with a similar body.

Removed skills are left out: their folders are gone.
"""

from collections.abc import Sequence

from catalog.database.queries import Database, Row, to_json
from catalog.reading.search import word_search
from catalog.reading.search.filters import Filters
from catalog.reading.search.hits import Hit
from catalog.text.differences import SIMILAR, pieces_of, similarity

COMPARED = 30
"""Skills found by the words of a description, whose bodies are compared."""


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


def grouped(db: Database, hits: Sequence[Hit]) -> dict[int, list[Row]]:
    """Return the skills that resemble none before them, each with those after it that do.

    They have similar bodies. Only those are read whose descriptions share most words.
    """
    words = {hit.id: set(hit.description.lower().split()) for hit in hits}
    near = {
        skill: {other for other in words if other != skill and _share(words[skill], words[other])}
        for skill in words
    }
    rows = {
        row["id"]: row for row in db.query(_COMPARED, [to_json([*set().union(*near.values())])])
    }
    groups: dict[int, list[Row]] = {}
    for skill in words:
        before = (first for first in groups if first in near[skill])
        first = next((i for i in before if _percent(rows[i], rows[skill]) >= 100 * SIMILAR), skill)
        groups.setdefault(first, []).extend([rows[skill]] if first != skill else [])
    return groups


def _share(one: set[str], other: set[str]) -> bool:
    """Return whether two descriptions share most of their words."""
    return 2 * len(one & other) > len(one | other)


def _percent(skill: Row, other: Row) -> int:
    """Return the similarity of another skill, rounded down."""
    if skill["digest"] and skill["digest"] == other["digest"]:
        return 100
    one, two = (pieces_of(row["body"] or "") for row in (skill, other))
    return min(int(100 * similarity(one, two)), 99)


_COLUMNS = "s.id, s.skill_id, s.name, s.description, s.status, s.level, s.root, s.path, s.digest"
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
