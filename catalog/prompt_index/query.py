"""Skills of an index in their order, and the index built from them."""

import json
from collections.abc import Container, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import starmap
from typing import Any

from catalog.database.expressions import FOLDER_NAME, INDEX_ORDER, SKILLS_FOLDER, WITHIN_LEVEL
from catalog.database.queries import Database, Row, to_json
from catalog.model.errors import NotInCatalog
from catalog.model.setting import Selection
from catalog.model.values import LEVELS, Level
from catalog.prompt_index import builder
from catalog.prompt_index.builder import EntryFailed, PromptIndex
from catalog.prompt_index.formats.form import Candidate, FileGroup
from catalog.prompt_index.locations import Bases, Locations
from catalog.prompt_index.spec import IndexSpec

ROOM_FACTORS: dict[Level, float] = {
    "enterprise": 1.5,
    "personal": 1.25,
    "project": 1.0,
    "plugin": 1.0,
}
FEATURED_FACTOR = 2.0
"""Room of a description as a multiple of the usual one, by level and for featured skills."""

MOST_FAILED = 50
"""Skills whose entries may fail before the index fails as a whole."""

STORED = (
    *("name", "format", "language", "budget_chars", "budget_tokens"),
    *("overflow", "location_base"),
)
"""Settings of an index that are stored as they are, in columns of these names."""


def index_spec(db: Database, name: str) -> IndexSpec:
    """Return the settings of a configured index. Raises NotInCatalog, which lists the indexes."""
    name = name.encode(errors="replace").decode()  # a shell may pass bytes that are not UTF-8
    for row in db.query("SELECT * FROM indexes WHERE name = ?", [name]):
        settings: dict[str, Any] = {setting: row[setting] for setting in STORED}
        lists = json.loads(row["filter"]) | {"featured": json.loads(row["featured"])}
        settings |= {key: tuple(words) for key, words in lists.items()}
        return IndexSpec(**settings)
    names = ", ".join(row["name"] for row in db.query("SELECT name FROM indexes ORDER BY position"))
    raise NotInCatalog(f"There is no index {name!r}. The indexes are: {names or 'none yet'}.")


def build_index(db: Database, spec: IndexSpec) -> PromptIndex:
    """Return an index of the present catalog.

    The cost depends on the budget and not on the number of skills; only the skills that match a
    filter by tags are counted one by one. A skill whose entry fails is not in it, but in `failed`.
    """
    failed: dict[int, EntryFailed] = {}
    with one_moment(db):
        total, bases = count_indexable(db, spec), bases_of(db)
        while True:
            with closing(ranked(db, spec, failed)) as candidates:
                try:
                    index = builder.build(spec, candidates, total - len(failed), bases)
                except EntryFailed as error:
                    if len(failed) == MOST_FAILED:
                        raise
                    failed[error.skill] = error
                else:
                    return replace(index, failed=failed)


def ranked(
    db: Database, spec: IndexSpec, but: Container[int] = ()
) -> Generator[Candidate, None, None]:
    """Yield the skills that pass the filter of an index, one by one, in its order.

    Featured skills come first, in the order of the setting, then the others in `index_order`. The
    row ids in `but` are left out.
    """
    locations, condition = Locations(bases_of(db), spec), wanted(spec)
    if spec.featured:
        rows = _rows(
            db, spec, f"{_BY_NAME} WHERE {condition} AND {_IS_FEATURED} ORDER BY {INDEX_ORDER}"
        )
        for row in sorted(rows, key=lambda row: spec.featured.index(row["name"])):
            if row["id"] not in but:
                yield _candidate(row, spec, locations)
        condition += f" AND NOT {_IS_FEATURED}"
    if spec.names:
        orders = [f"{_BY_NAME} WHERE {condition} ORDER BY {INDEX_ORDER}"]
    else:  # each level is a range of a database index, already in order
        orders = [
            f"{_IN_ORDER} WHERE {condition} AND s.level_rank = {rank} ORDER BY {WITHIN_LEVEL}"
            for rank, level in enumerate(LEVELS)
            if not spec.levels or level in spec.levels
        ]
    for order in orders:
        for row in _rows(db, spec, order):
            if row["id"] not in but:
                yield _candidate(row, spec, locations)


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
    for row in _rows(db, spec, "skills AS s WHERE id = :id", id=skill):
        candidate = _candidate(row, spec, Locations(bases, spec))
        for layout in filter(None, (form.entries, form.lines)):
            if len(text := layout.item(candidate, description)) == chars:
                return text
    return None


_BY_NAME = "skills AS s INDEXED BY skills_by_name"
_IN_ORDER = "skills AS s INDEXED BY skills_in_index_order"
_IS_FEATURED = "s.name IN (SELECT value FROM json_each(:featured))"


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


def parameters(spec: IndexSpec) -> dict[str, Any]:
    """Return the parameters of `wanted` and the queries that contain it."""
    lists = spec.selection._asdict() | {"featured": spec.featured}
    return {setting: to_json(words) for setting, words in lists.items()}


@contextmanager
def one_moment(db: Database) -> Iterator[None]:
    """Answer all queries from one snapshot of the catalog."""
    if db.conn.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.execute("ROLLBACK")


def _rows(db: Database, spec: IndexSpec, source: str, **values: Any) -> Iterator[Row]:
    """Run a query for the skills `s` of a source now; yield their rows."""
    files = _FILES if spec.format == "semibot" else "NULL"
    query = f"SELECT {_COLUMNS}, {files} AS files FROM {source}"
    return db.query(query, parameters(spec) | values)


_COLUMNS = f"""
    s.id, s.skill_id, s.name, s.description, s.root, s.path, s.skill_md_name, s.package_path,
    {FOLDER_NAME} AS folder, s.user_invocable, s.skill_md_hash, s.level
"""
_FILES = """
    (SELECT json_group_array(json_array(iif(files = 1, first, folder), files)) FROM (
        SELECT CASE instr(path, '/') WHEN 0 THEN path ELSE substr(path, 1, instr(path, '/')) END
               AS folder, count(*) AS files, min(path) AS first
        FROM files WHERE version = s.current_version_id AND path <> 'manifest.json'
        GROUP BY folder ORDER BY folder))
"""


def _candidate(row: Row, spec: IndexSpec, locations: Locations) -> Candidate:
    is_featured = row["name"] in spec.featured
    files = json.loads(row["files"]) if row["files"] else ()
    return Candidate(
        row["id"],
        row["name"],
        row["description"],
        locations.of_skill_md(row),
        row["skill_id"],
        locations.name_in_pattern(row) == row["skill_id"],
        bool(row["user_invocable"]),
        tuple(starmap(FileGroup, files)),
        row["skill_md_hash"],
        is_featured,
        FEATURED_FACTOR if is_featured else ROOM_FACTORS[row["level"]],
    )
