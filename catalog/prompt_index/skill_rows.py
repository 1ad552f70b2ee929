"""Rows of skills for an index, and the candidates made of them."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from catalog.database.queries import Database
from catalog.model.values import Level
from catalog.prompt_index import locations
from catalog.prompt_index.builder import Candidate, IndexSpec
from catalog.prompt_index.formats.form import FileGroup


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
    user_invocable: int
    skill_md_hash: str
    level: Level
    priority: float
    fallback_description: str | None
    files: str | None  # JSON; None where the format lists no files


_COLUMNS = """
    s.id, s.skill_id, s.name, s.description, s.root, s.path, s.skill_md_name, s.package_path,
    s.user_invocable, s.skill_md_hash, s.level, ifnull(s.priority, 0), s.fallback_description
"""

_FILES = """
    (SELECT json_group_array(json_array(folder, files, first)) FROM (
        SELECT CASE instr(path, '/') WHEN 0 THEN path ELSE substr(path, 1, instr(path, '/')) END
               AS folder, count(*) AS files, min(path) AS first
        FROM files WHERE version = s.current_version_id GROUP BY folder ORDER BY folder))
"""


def select(spec: IndexSpec) -> str:
    """Return the beginning of a query for the rows of skills `s`."""
    return f"SELECT {_COLUMNS}, {_FILES if spec.format == 'semibot' else 'NULL'}"


def fetch(db: Database, query: str, values: Any) -> Iterator[Row]:
    """Run a query now; yield its rows."""
    return map(Row._make, db.execute(query, values))


def candidate(row: Row, spec: IndexSpec, base: str | None) -> Candidate:
    """Return the candidate of a row; base is the packages folder or the URL of the site."""
    package_path = row.package_path if spec.locations == "version" else None
    folder = package_path.partition("/")[0] if package_path else row.skill_id
    is_featured = row.name in spec.featured
    return Candidate(
        row.id,
        row.name,
        row.description,
        _location(row, spec, base, package_path),
        row.skill_id,
        folder == row.skill_id and (row.package_path is not None or locations.is_url(base or "")),
        package_path,
        bool(row.user_invocable),
        _files(row.files) if row.files else (),
        row.skill_md_hash,
        row.fallback_description,
        is_featured,
        spec.room_factors.of(row.level, is_featured=is_featured),
    )


def _location(row: Row, spec: IndexSpec, base: str | None, package_path: str | None) -> str:
    if spec.format == "discovery" and not (base and locations.is_url(base)):
        return locations.on_site(
            row.skill_id,
            row.skill_md_name,
            version=(package_path.rpartition("/")[2] if package_path else None),
        )
    return locations.of_skill_md(
        base,
        skill_id=row.skill_id,
        file_name=row.skill_md_name,
        folder=f"{row.root}/{row.path}",
        is_package=row.package_path is not None,
        package_path=package_path,
    )


def _files(groups: str) -> tuple[FileGroup, ...]:
    return tuple(
        FileGroup(first if files == 1 else folder, files)
        for folder, files, first in json.loads(groups)
    )
