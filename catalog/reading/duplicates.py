"""Skills with the same files, the same description or a similar body, whatever their status.

Removed skills are left out: their folders are gone.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from catalog.database.queries import Database
from catalog.database.sql import Row, to_json
from catalog.text.sketch import SIMILAR, similarity

PAGE = 30
"""Groups on one page."""
SHOWN = 6
"""Skills of a group that are listed; the others are counted."""
KINDS = ("content", "near", "description")


class Group(NamedTuple):
    """Skills that resemble each other."""

    skills: list[Row]  # at most SHOWN, active ones first; `percent` is the similarity to the first
    size: int


def prepare(connection: sqlite3.Connection) -> None:
    """Give a connection the SQL function `similarity` of two sketches."""
    connection.create_function("similarity", 2, similarity, deterministic=True)


def groups(db: Database, kind: str) -> list[list[int]]:
    """Return the groups of one of KINDS as ids of skills, largest first."""
    return sorted(
        _similar_groups(db) if kind == "near" else _equal_groups(db, kind),
        key=lambda ids: (-len(ids), min(ids)),
    )


def page(db: Database, found: Sequence[Sequence[int]], number: int) -> list[Group]:
    """Return a page of groups with their skills."""
    return [Group(_rows(db, ids), len(ids)) for ids in found[(number - 1) * PAGE : number * PAGE]]


def similar(db: Database, skill: Row) -> list[Row]:
    """Return the skills under other identifiers with similar bodies, most similar first.

    Each row has its `percent`: 100 for the same files, else at most 99.
    """
    rows = db.query(_SIMILAR_TO, {"version": skill["current_version_id"], "id": skill["id"]})
    own = _sketch(db, skill["current_version_id"])
    found = [row | {"percent": _percent(skill, own, row)} for row in rows]
    return sorted(
        (_without_sketch(row) for row in found if row["percent"] >= 100 * SIMILAR),
        key=lambda row: (-row["percent"], row["status"] != "active", row["name"], row["id"]),
    )


def _equal_groups(db: Database, kind: str) -> list[list[int]]:
    column = "digest" if kind == "content" else "description"
    sql = _EQUAL.format(_VALUES[column], column)
    return [json.loads(ids) for (ids,) in db.execute(sql)]


def _similar_groups(db: Database) -> list[list[int]]:
    """Return the ids of similar skills by group, without the groups of one content."""
    prepare(db.conn)
    first: dict[int, int] = {}  # version by version, to the first one of its group

    def leader(version: int) -> int:
        while (above := first.get(version, version)) != version:
            first[version] = version = first.get(above, above)
        return version

    for one, other in db.execute(_PAIRS, [SIMILAR]):
        leaders = sorted((leader(one), leader(other)))
        first[leaders[1]] = leaders[0]
    ids, digests = defaultdict(list), defaultdict(set)
    versions = {*first, *first.values()}
    for skill, version, digest in db.execute(_OF_VERSIONS, [to_json(sorted(versions))]):
        ids[leader(version)].append(skill)
        digests[leader(version)].add(digest)
    return [ids[version] for version in ids if len(digests[version]) > 1]


def _rows(db: Database, ids: Iterable[int]) -> list[Row]:
    rows = list(db.query(_SHOWN, [to_json(list(ids)), SHOWN]))
    return [
        _without_sketch(row | {"percent": _percent(rows[0], rows[0]["sketch"], row)})
        for row in rows
    ]


def _percent(skill: Row, sketch: bytes | None, other: Row) -> int:
    """Return the similarity of another skill, rounded down."""
    if skill["digest"] == other["digest"]:
        return 100
    return min(int(100 * similarity(sketch, other["sketch"])), 99)


def _sketch(db: Database, version: int | None) -> bytes | None:
    row = db.execute("SELECT sketch FROM body_sketches WHERE version = ?", [version]).fetchone()
    return row[0] if row else None


def _without_sketch(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "sketch"}


_COLUMNS = "s.id, s.skill_id, s.name, s.description, s.status, s.level, s.root, s.path, s.digest"
_SHOWN = f"""
    SELECT {_COLUMNS}, k.sketch FROM json_each(?) AS wanted JOIN skills AS s ON s.id = wanted.value
    LEFT JOIN body_sketches AS k ON k.version = s.current_version_id
    ORDER BY s.status != 'active', s.level_rank, s.name, s.root, s.path LIMIT ?
"""
_SIMILAR_TO = f"""
    SELECT {_COLUMNS}, k.sketch FROM (
        SELECT DISTINCT other.version
        FROM sketch_buckets AS own JOIN sketch_buckets AS other ON other.bucket = own.bucket
        WHERE own.version = :version) AS found
    JOIN skills AS s ON s.current_version_id = found.version AND s.status != 'removed'
    JOIN body_sketches AS k ON k.version = found.version
    WHERE s.skill_id != (SELECT skill_id FROM skills WHERE id = :id)
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
# Each version is compared with the first one in each of its buckets, so that the work does not grow
# with the square of a group. The canned query near_duplicates is the same.
_PAIRS = """
    WITH present AS NOT MATERIALIZED (
        SELECT b.bucket, b.version FROM sketch_buckets AS b WHERE EXISTS (
            SELECT 1 FROM skills WHERE current_version_id = b.version AND status != 'removed')),
    shared AS MATERIALIZED (
        SELECT bucket, min(version) AS first FROM present GROUP BY bucket HAVING count(*) > 1),
    pairs AS MATERIALIZED (
        SELECT DISTINCT s.first, p.version AS other
        FROM shared AS s CROSS JOIN present AS p ON p.bucket = s.bucket
        WHERE p.version != s.first)
    SELECT p.first, p.other FROM pairs AS p
    CROSS JOIN body_sketches AS a ON a.version = p.first
    CROSS JOIN body_sketches AS b ON b.version = p.other
    WHERE similarity(a.sketch, b.sketch) >= ?
"""
_OF_VERSIONS = """
    SELECT s.id, s.current_version_id, s.digest FROM json_each(?) AS wanted
    CROSS JOIN skills AS s ON s.current_version_id = wanted.value AND s.status != 'removed'
"""
