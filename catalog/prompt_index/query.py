"""Query for the skills of an index in their order, and the index built from it."""

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any, NamedTuple

from catalog.database import sql
from catalog.database.expressions import FOLDER_NAME, INDEX_ORDER, SKILLS_FOLDER, WITHIN_LEVEL
from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog
from catalog.model.selection import Selection
from catalog.model.values import LEVELS, Level
from catalog.prompt_index import builder, locations
from catalog.prompt_index.builder import Candidate, IndexSpec, PromptIndex
from catalog.prompt_index.formats.form import FileGroup
from catalog.prompt_index.locations import Bases
from catalog.prompt_index.measures import RoomFactors


class Row(NamedTuple):
    """Columns of a skill that an index needs."""

    id: int
    skill_id: str
    name: str
    description: str
    root: str
    path: str
    skill_md_name: str
    package_path: str | None
    folder: str | None  # its name among the published skills
    user_invocable: int
    skill_md_hash: str
    level: Level
    priority: float
    fallback_description: str | None
    files: str | None  # JSON; None where the format lists no files


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


def build_index(db: Database, spec: IndexSpec) -> PromptIndex:
    """Return an index of the present catalog.

    The cost depends on the budget and not on the number of skills; only the skills that match a
    filter by tags are counted one by one.
    """
    with one_moment(db):
        bases = bases_of(db)
        total = count_indexable(db, spec)
        with closing(ranked(db, spec)) as candidates:
            return builder.build(spec, candidates, total, bases)


def ranked(db: Database, spec: IndexSpec) -> Generator[Candidate, None, None]:
    """Yield the skills that pass the filter of an index, one by one, in its order.

    Featured skills come first, in the order of the setting, then the others in `index_order`.
    """
    bases = bases_of(db)
    for row in _rows(db, spec):
        yield candidate_of(row, spec, bases)


def count_indexable(db: Database, spec: IndexSpec) -> int:
    """Return how many skills an index would list without a budget.

    Without a filter by names or tags, it counts entries of a database index: 2 ms for 100,000.
    """
    source = _BY_NAME if spec.names else _IN_ORDER
    query = f"SELECT count(*) FROM {source} WHERE {wanted(spec)}"
    return int(db.execute(query, parameters(spec)).fetchone()[0])


def bases_of(db: Database) -> Bases:
    """Return the folders of the published skills and of their versions, if any is published now."""
    row = db.execute(
        f"SELECT {SKILLS_FOLDER}, packages_folder FROM health"
        " WHERE EXISTS (SELECT 1 FROM skills WHERE package_path IS NOT NULL AND status = 'active')"
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
    query = f"{select_of(spec)} FROM skills AS s WHERE id = ?"
    for row in fetch(db, query, [skill]):
        candidate = candidate_of(row, spec, bases)
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
    select = select_of(spec)
    yield from _featured(db, spec, select)
    condition = wanted(spec)
    if spec.featured:
        condition += " AND s.name NOT IN (SELECT value FROM json_each(:featured))"
    if spec.names:
        yield from fetch(
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
    rows = fetch(
        db,
        f"{select} FROM {_BY_NAME} WHERE {wanted(spec)}"
        f" AND s.name IN (SELECT value FROM json_each(:featured)) ORDER BY {INDEX_ORDER}",
        parameters(spec),
    )
    return sorted(rows, key=lambda row: spec.featured.index(row.name))


def _in_order(
    db: Database, spec: IndexSpec, select: str, condition: str, level_rank: int
) -> Iterator[Row]:
    yield from fetch(
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


_COLUMNS = f"""
    s.id, s.skill_id, s.name, s.description, s.root, s.path, s.skill_md_name, s.package_path,
    {FOLDER_NAME}, s.user_invocable, s.skill_md_hash, s.level,
    ifnull(s.priority, 0), s.fallback_description
"""

_FILES = """
    (SELECT json_group_array(json_array(folder, files, first)) FROM (
        SELECT CASE instr(path, '/') WHEN 0 THEN path ELSE substr(path, 1, instr(path, '/')) END
               AS folder, count(*) AS files, min(path) AS first
        FROM files WHERE version = s.current_version_id GROUP BY folder ORDER BY folder))
"""


def select_of(spec: IndexSpec) -> str:
    """Return the beginning of a query for the rows of skills `s`."""
    return f"SELECT {_COLUMNS}, {_FILES if spec.format == 'semibot' else 'NULL'}"


def fetch(db: Database, query: str, values: Any) -> Iterator[Row]:
    """Run a query now; yield its rows."""
    return map(Row._make, db.execute(query, values))


def candidate_of(row: Row, spec: IndexSpec, bases: Bases) -> Candidate:
    """Return the candidate of a row."""
    package_path = row.package_path if spec.locations == "version" else None
    is_featured = row.name in spec.featured
    return Candidate(
        row.id,
        row.name,
        row.description,
        _location(row, spec, bases, package_path),
        row.skill_id,
        _folder(row, spec, package_path) == row.skill_id,
        package_path,
        bool(row.user_invocable),
        _file_groups(row.files) if row.files else (),
        row.skill_md_hash,
        row.fallback_description,
        is_featured,
        spec.room_factors.of(row.level, is_featured=is_featured),
    )


def _folder(row: Row, spec: IndexSpec, package_path: str | None) -> str | None:
    """Return the name of a skill's folder in the pattern of an index; None if it is elsewhere."""
    if package_path:
        return package_path.partition("/")[0]
    if locations.is_url(spec.location_base or ""):
        return row.skill_id
    if row.package_path is None:
        return None
    return row.skill_id if spec.names_packages else row.folder


def _location(row: Row, spec: IndexSpec, bases: Bases, package_path: str | None) -> str:
    base = spec.location_base
    if spec.format == "discovery" and not (base and locations.is_url(base)):
        return locations.on_site(
            row.skill_id,
            row.skill_md_name,
            version=(package_path.rpartition("/")[2] if package_path else None),
        )
    return locations.of_skill_md(
        base,
        bases,
        skill_id=row.skill_id,
        file_name=row.skill_md_name,
        root_folder=f"{row.root}/{row.path}",
        is_package=row.package_path is not None,
        name=row.folder,
        package_path=package_path,
        in_packages=spec.names_packages,
    )


def _file_groups(groups: str) -> tuple[FileGroup, ...]:
    return tuple(
        FileGroup(first if files == 1 else folder, files)
        for folder, files, first in json.loads(groups)
    )
