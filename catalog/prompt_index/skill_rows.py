"""Rows of skills for an index, and the candidates made of them."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from catalog.database.expressions import FOLDER_NAME
from catalog.database.queries import Database
from catalog.model.values import Level
from catalog.prompt_index import locations
from catalog.prompt_index.builder import Candidate, IndexSpec
from catalog.prompt_index.formats.form import FileGroup
from catalog.prompt_index.locations import Bases


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


def select(spec: IndexSpec) -> str:
    """Return the beginning of a query for the rows of skills `s`."""
    return f"SELECT {_COLUMNS}, {_FILES if spec.format == 'semibot' else 'NULL'}"


def fetch(db: Database, query: str, values: Any) -> Iterator[Row]:
    """Run a query now; yield its rows."""
    return map(Row._make, db.execute(query, values))


def candidate(row: Row, spec: IndexSpec, bases: Bases) -> Candidate:
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
        _files(row.files) if row.files else (),
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


def _files(groups: str) -> tuple[FileGroup, ...]:
    return tuple(
        FileGroup(first if files == 1 else folder, files)
        for folder, files, first in json.loads(groups)
    )
