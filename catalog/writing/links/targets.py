"""Targets of the links to skills."""

import os
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from catalog.database.queries import Database
from catalog.model.naming import CURRENT
from catalog.model.paths import text_path
from catalog.model.selection import LinkedDirectory, Selection
from catalog.prompt_index import query
from catalog.reading import agent_entries
from catalog.reading.agent_entries import Entry
from catalog.writing.tables.links import DirectoryRow, LinkRow


class Packages(NamedTuple):
    """The packages folder, and whether skills in folders of the roots have no packages."""

    folder: Path
    in_place: bool


def wanted_links(
    db: Database,
    directory: DirectoryRow,
    packages: Packages,
    skill_ids: Collection[str] | None = None,
) -> Iterator[LinkRow]:
    """Yield the links that a directory should have, in the order of an index.

    With skill_ids they are only those of these skills. Raises NotInCatalog if the index whose
    filter counts is no longer configured.
    """
    if directory.is_leaving:
        return
    base = packages.folder
    if directory.origin == "data":  # relative, so that the data directory can be moved
        base = Path(os.path.relpath(packages.folder, directory.spec.path))
    selection = _selection(db, directory.spec)
    for entry in agent_entries.entries(db, selection, skill_ids):
        if target := _target(entry, base, in_place=packages.in_place):
            yield LinkRow(entry.name, entry.skill_id, text_path(target))


def _selection(db: Database, spec: LinkedDirectory) -> Selection:
    if spec.index is None:
        return spec.selection
    index = query.index_spec(db, spec.index)
    return Selection(index.levels, index.tags, index.names)


def _target(entry: Entry, packages: Path, *, in_place: bool) -> str | None:
    """Return the folder of a skill; None if it has no package yet.

    It leads through `current`, so that a new version needs no new link.
    """
    if entry.package_path is None:
        return entry.folder if in_place and not entry.in_archive else None
    return str(packages / entry.package_path.partition("/")[0] / CURRENT)
