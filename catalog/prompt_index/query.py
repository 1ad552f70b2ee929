"""Query for the skills of an index in their order, and the index built from it."""

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from typing import Any

from catalog.database import sql
from catalog.database.expressions import INDEX_ORDER, SKILLS_FOLDER, WITHIN_LEVEL
from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.model.selection import Selection
from catalog.model.values import LEVELS
from catalog.prompt_index import builder, skill_rows
from catalog.prompt_index.builder import Candidate, IndexSpec, LastBuild, PromptIndex
from catalog.prompt_index.locations import Bases
from catalog.prompt_index.measures import RoomFactors
from catalog.prompt_index.skill_rows import Row


def index_spec(db: Database, name: str) -> IndexSpec:
    """Return the settings of a configured index. Raises NotInCatalog, which lists the indexes."""
    name = name.encode(errors="replace").decode()  # a shell may pass bytes that are not UTF-8
    for row in db.query("SELECT * FROM indexes WHERE name = ?", [name]):
        criteria = json.loads(row["filter"])
        return IndexSpec(
            name=name,
            format=row["format"],
            budget_chars=row["budget_chars"],
            budget_tokens=row["budget_tokens"],
            overflow=row["overflow"],
            language=row["language"],
            levels=tuple(criteria["levels"]),
            tags=tuple(criteria["tags"]),
            names=tuple(criteria["names"]),
            featured=tuple(json.loads(row["featured"])),
            location_base=row["location_base"],
            locations=row["locations"],
            instruction=row["instruction"],
            how_to_search=row["how_to_search"],
            **_per_skill(row["per_skill"]),
            room_factors=RoomFactors(**json.loads(row["room_factors"])),
        )
    names = ", ".join(row["name"] for row in db.query("SELECT name FROM indexes ORDER BY position"))
    raise NotInCatalog(f"There is no index {name!r}. The indexes are: {names or 'none yet'}.")


def _per_skill(stored: str | None) -> dict[str, Any]:
    """Return the setting of the stored bounds of a skill."""
    if stored is None:
        return {}
    least, most, unit = json.loads(stored)
    return {f"per_skill_{unit}": (least, most)}


def build_index(db: Database, spec: IndexSpec, last: LastBuild | None = None) -> PromptIndex:
    """Return an index of the present catalog.

    The cost depends on the budget and not on the number of skills; only the skills that match a
    filter by tags are counted one by one. A build that takes over parts of the last one needs a
    fourth of the time.
    """
    last = last or LastBuild()
    with one_moment(db):
        bases = bases_of(db)
        last.begin(spec, bases)
        total = count_indexable(db, spec)
        with closing(ranked(db, spec, last)) as candidates:
            return builder.build(spec, candidates, total, bases, last.texts)


def ranked(
    db: Database, spec: IndexSpec, last: LastBuild | None = None
) -> Generator[Candidate, None, None]:
    """Yield the skills that pass the filter of an index, one by one, in its order.

    Featured skills come first, in the order of the setting, then the others in `index_order`.
    """
    bases = bases_of(db)
    known = (last or LastBuild()).candidates
    for row in _rows(db, spec):
        yield known.get(row, partial(skill_rows.candidate, row, spec, bases))


def count_indexable(db: Database, spec: IndexSpec) -> int:
    """Return how many skills an index would list without a budget.

    Without a filter by names or tags, it counts entries of a database index: 2 ms for 100,000.
    """
    source = _BY_NAME if spec.names else _IN_ORDER
    query = f"SELECT count(*) FROM {source} WHERE {wanted(spec)}"
    return int(db.execute(query, parameters(spec)).fetchone()[0])


def bases_of(db: Database) -> Bases:
    """Return the folders of the published skills and of their versions; none if there are none."""
    row = db.execute(
        f"SELECT {SKILLS_FOLDER}, packages_folder FROM health"
        " WHERE EXISTS (SELECT 1 FROM versions WHERE package_path IS NOT NULL)"
    ).fetchone()
    return Bases(*(path or None for path in row)) if row else Bases()


def entry_text(
    db: Database, spec: IndexSpec, skill: int, description: str, chars: int
) -> str | None:
    """Return the lines of a skill in an index, from its description as the index shows it.

    chars is the length of its entry; None if the skill has changed since the entry was made.
    """
    bases = bases_of(db)
    form = builder.form_of(spec, bases)
    query = f"{skill_rows.select(spec)} FROM skills AS s WHERE id = ?"
    for row in skill_rows.fetch(db, query, [skill]):
        candidate = skill_rows.candidate(row, spec, bases)
        for layout in filter(None, (form.entries, form.lines)):
            if len(text := layout.item(candidate, description)) == chars:
                return text
    return None


# Ranking

_BY_NAME = "skills AS s INDEXED BY skills_by_name"
_IN_ORDER = "skills AS s INDEXED BY skills_in_index_order"


def wanted(spec: IndexSpec) -> str:
    """Return the condition for a skill `s` to enter an index; unused filters cost nothing."""
    return " AND ".join(["s.status = 'active' AND s.model_invocable = 1", *conditions(spec)])


def conditions(selection: IndexSpec | Selection) -> Iterator[str]:
    """Yield the conditions of a filter for a skill `s`; they have its fields as parameters."""
    if selection.levels:
        yield "s.level IN (SELECT value FROM json_each(:levels))"
    if selection.names:
        yield "s.name IN (SELECT value FROM json_each(:names))"
    if selection.tags:
        yield (
            "EXISTS (SELECT 1 FROM json_each(:tags) AS wanted"
            " JOIN json_each(s.tags) AS has ON has.value = wanted.value)"
        )


def _rows(db: Database, spec: IndexSpec) -> Iterator[Row]:
    select = skill_rows.select(spec)
    yield from _featured(db, spec, select)
    condition = wanted(spec)
    if spec.featured:
        condition += " AND s.name NOT IN (SELECT value FROM json_each(:featured))"
    if spec.names:
        yield from skill_rows.fetch(
            db,
            f"{select} FROM {_BY_NAME} WHERE {condition} ORDER BY {INDEX_ORDER}",
            parameters(spec),
        )
        return
    for level in LEVELS:  # each is a range of a database index, already in order
        if not spec.levels or level in spec.levels:
            yield from _in_order(db, spec, select, condition, LEVELS.index(level))


def _featured(db: Database, spec: IndexSpec, select: str) -> Sequence[Row]:
    if not spec.featured:
        return ()
    rows = skill_rows.fetch(
        db,
        f"{select} FROM {_BY_NAME} WHERE {wanted(spec)}"
        f" AND s.name IN (SELECT value FROM json_each(:featured)) ORDER BY {INDEX_ORDER}",
        parameters(spec),
    )
    return sorted(rows, key=lambda row: spec.featured.index(row.name))


def _in_order(
    db: Database, spec: IndexSpec, select: str, condition: str, level_rank: int
) -> Iterator[Row]:
    yield from skill_rows.fetch(
        db,
        f"{select} FROM {_IN_ORDER} WHERE {condition} AND s.level_rank = :rank"
        f" ORDER BY {WITHIN_LEVEL}",
        parameters(spec) | {"rank": level_rank},
    )


def parameters(spec: IndexSpec) -> dict[str, Any]:
    """Return the parameters of `wanted` and the queries that contain it."""
    return {
        "levels": sql.to_json(spec.levels),
        "names": sql.to_json(spec.names),
        "tags": sql.to_json(spec.tags),
        "featured": sql.to_json(spec.featured),
    }


@contextmanager
def one_moment(db: Database) -> Iterator[None]:
    """Answer all queries from one snapshot, whatever another process writes meanwhile."""
    if db.conn.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("ROLLBACK")
