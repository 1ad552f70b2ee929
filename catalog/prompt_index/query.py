"""Query for the skills of an index, in their order, and the index built from them."""

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from heapq import merge
from typing import Any

from sqlite_utils import Database

from catalog.database import sql
from catalog.model.errors import NotInCatalog
from catalog.model.values import LEVELS
from catalog.prompt_index import builder, locations
from catalog.prompt_index.builder import Candidate, IndexSpec, PromptIndex


def index_spec(db: Database, name: str) -> IndexSpec:
    """Return the settings of a configured index. Raises NotInCatalog, naming those there are."""
    name = name.encode(errors="replace").decode()  # a shell may pass on what is not UTF-8
    for row in db.query("SELECT * FROM indexes WHERE name = ?", [name]):
        chosen = json.loads(row["filter"])
        return IndexSpec(
            name=name,
            format=row["format"],
            budget_chars=row["budget_chars"],
            overflow=row["overflow"],
            language=row["language"],
            levels=tuple(chosen["levels"]),
            tags=tuple(chosen["tags"]),
            names=tuple(chosen["names"]),
            featured=tuple(json.loads(row["featured"])),
            location_base=row["location_base"],
            locations=row["locations"],
            instruction=row["instruction"],
            how_to_search=row["how_to_search"],
        )
    names = ", ".join(row["name"] for row in db.query("SELECT name FROM indexes ORDER BY position"))
    raise NotInCatalog(f"There is no index {name!r}; there is {names or 'none yet'}.")


def build_index(db: Database, spec: IndexSpec) -> PromptIndex:
    """Return what an index says of the catalog as it is now.

    What this costs depends on the budget and not on how many skills there are; only the skills
    that have a tag which is asked for are counted one by one.
    """
    with one_moment(db), closing(ranked(db, spec)) as candidates:
        return builder.build(spec, candidates, count_indexable(db, spec), packages_folder(db))


def ranked(db: Database, spec: IndexSpec) -> Generator[Candidate, None, None]:
    """Yield the skills an index may name in the order in which they enter it, one by one.

    Featured skills come first in their own order, then all others by level, declared priority,
    and name by code point, which is how SQLite compares UTF-8.
    """
    base = spec.location_base or packages_folder(db)
    yield from (_candidate(row, spec, base) for row in _rows(db, spec))


def count_indexable(db: Database, spec: IndexSpec) -> int:
    """Return how many skills an index would name if its budget had no end.

    Nothing is counted for it but the skills that a filter by names or tags is about.
    """
    if spec.names or spec.tags:
        return _count_filtered(db, spec)
    return int(
        db.execute(
            "SELECT total(skills) FROM level_counts WHERE level IN"
            " (SELECT value FROM json_each(?))",
            [sql.to_json(spec.levels or LEVELS)],
        ).fetchone()[0]
    )


def _count_filtered(db: Database, spec: IndexSpec) -> int:
    if spec.names:
        asked = f"SELECT count(*) FROM {_BY_NAME} WHERE {wanted(spec)}"
    else:
        asked = (
            "SELECT count(DISTINCT skill) FROM index_tags"
            " WHERE tag IN (SELECT value FROM json_each(:tags)) AND (:levels = '[]'"
            " OR level_rank IN (SELECT value FROM json_each(:level_ranks)))"
        )
    return int(db.execute(asked, parameters(spec)).fetchone()[0])


def packages_folder(db: Database) -> str | None:
    """Return the folder that holds the published packages; None where there are none."""
    found = db.execute("SELECT packages_folder FROM health").fetchone()
    return str(found[0]) if found and found[0] else None


# Ranking

_BY_NAME = "skills AS s INDEXED BY skills_by_name"
_BY_TAG = "index_tags AS t CROSS JOIN skills AS s ON s.id = t.skill"
_IN_ORDER = "skills AS s INDEXED BY skills_in_index_order"

_ORDER = "s.level_rank, ifnull(s.priority, 0) DESC, s.name, s.id"
_COLUMNS = """
    s.id, s.skill_id, s.name, s.description, s.root, s.path, s.skill_md_name, s.package_path,
    s.user_invocable, s.skill_md_hash, s.level_rank, ifnull(s.priority, 0) AS priority
"""


def wanted(spec: IndexSpec) -> str:
    """Return the condition that a skill `s` may enter; only what is asked for slows it down."""
    conditions = ["s.status = 'active' AND s.model_invocable = 1"]
    if spec.levels:
        conditions.append("s.level IN (SELECT value FROM json_each(:levels))")
    if spec.names:
        conditions.append("s.name IN (SELECT value FROM json_each(:names))")
    if spec.tags:
        conditions.append(
            "EXISTS (SELECT 1 FROM json_each(:tags) AS wanted"
            " JOIN json_each(s.tags) AS has ON has.value = wanted.value)"
        )
    return " AND ".join(conditions)


def _rows(db: Database, spec: IndexSpec) -> Iterator[sql.Row]:
    columns = f"{_COLUMNS}, s.file_inventory" if spec.format == "semibot" else _COLUMNS
    yield from _featured(db, spec, columns)
    rest = wanted(spec)
    if spec.featured:
        rest += " AND s.name NOT IN (SELECT value FROM json_each(:featured))"
    if spec.names:
        yield from db.query(
            f"SELECT {columns} FROM {_BY_NAME} WHERE {rest} ORDER BY {_ORDER}", parameters(spec)
        )
        return
    ordered = _tagged if spec.tags else _in_order
    for level in LEVELS:  # each is a stretch of an index of the database, already in order
        if not spec.levels or level in spec.levels:
            yield from ordered(db, spec, f"SELECT {columns}", rest, LEVELS.index(level))


def _featured(db: Database, spec: IndexSpec, columns: str) -> Sequence[sql.Row]:
    if not spec.featured:
        return ()
    found = db.query(
        f"SELECT {columns} FROM {_BY_NAME} WHERE {wanted(spec)}"
        f" AND s.name IN (SELECT value FROM json_each(:featured)) ORDER BY {_ORDER}",
        parameters(spec),
    )
    return sorted(found, key=lambda row: spec.featured.index(row["name"]))


def _in_order(
    db: Database, spec: IndexSpec, select: str, rest: str, level_rank: int
) -> Iterator[sql.Row]:
    yield from db.query(
        f"{select} FROM {_IN_ORDER} WHERE {rest} AND s.level_rank = :rank"
        " ORDER BY ifnull(s.priority, 0) DESC, s.name, s.id",
        parameters(spec) | {"rank": level_rank},
    )


def _tagged(
    db: Database, spec: IndexSpec, select: str, rest: str, level_rank: int
) -> Iterator[sql.Row]:
    """Merge what each tag has in order; a skill with several of them comes once."""
    streams = [
        db.query(
            f"{select} FROM {_BY_TAG} WHERE {rest} AND t.tag = :tag"
            " AND t.level_rank = :rank ORDER BY t.priority DESC, t.name, t.skill",
            parameters(spec) | {"tag": tag, "rank": level_rank},
        )
        for tag in dict.fromkeys(spec.tags)
    ]
    last = None
    for row in merge(*streams, key=lambda row: (-row["priority"], row["name"], row["id"])):
        if row["id"] != last:
            yield row
        last = row["id"]


def parameters(spec: IndexSpec) -> dict[str, Any]:
    """Return the values that `wanted` and the questions built on it ask with."""
    return {
        "levels": sql.to_json(spec.levels),
        "names": sql.to_json(spec.names),
        "tags": sql.to_json(spec.tags),
        "featured": sql.to_json(spec.featured),
        "level_ranks": sql.to_json([LEVELS.index(level) for level in spec.levels]),
    }


def _candidate(row: sql.Row, spec: IndexSpec, base: str | None) -> Candidate:
    package_path = row["package_path"] if spec.locations == "version" else None
    own = package_path.partition("/")[0] if package_path else row["skill_id"]
    return Candidate(
        row["id"],
        row["name"],
        row["description"],
        _location(row, spec, base, package_path),
        row["skill_id"],
        own == row["skill_id"]
        and (row["package_path"] is not None or locations.is_url(base or "")),
        package_path,
        bool(row["user_invocable"]),
        _files(row["file_inventory"]) if "file_inventory" in row else (),
        row["skill_md_hash"],
    )


def _location(row: sql.Row, spec: IndexSpec, base: str | None, package_path: str | None) -> str:
    if spec.format == "discovery" and not (base and locations.is_url(base)):
        return locations.on_site(
            row["skill_id"],
            row["skill_md_name"],
            version=(package_path.rpartition("/")[2] if package_path else None),
        )
    return locations.of_skill_md(
        base,
        skill_id=row["skill_id"],
        file_name=row["skill_md_name"],
        folder=f"{row['root']}/{row['path']}",
        is_package=row["package_path"] is not None,
        package_path=package_path,
    )


def _files(inventory: str) -> tuple[str, ...]:
    held = json.loads(inventory)
    return (*held["referenceFiles"], *held["scriptFiles"], *held["templateFiles"])


@contextmanager
def one_moment(db: Database) -> Iterator[None]:
    """Let all questions be answered as of one moment, whatever another process writes."""
    if db.conn.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("ROLLBACK")
