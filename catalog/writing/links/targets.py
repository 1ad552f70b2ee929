"""Entries that a directory of skills should have."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

from catalog.database.queries import Database
from catalog.model.selection import LinkedDirectory, Selection
from catalog.prompt_index import query
from catalog.reading import agent_entries
from catalog.writing.tables import links as tables
from catalog.writing.tables.links import DirectoryRow, LinkRow


class Packages(NamedTuple):
    """The packages folder, and whether skills in folders of the roots have no packages."""

    folder: Path
    in_place: bool


def wanted_entries(
    db: Database, directory: DirectoryRow, skill_ids: Collection[str] | None = None
) -> Iterator[LinkRow]:
    """Yield the entries that a directory should have, in the order of an index.

    Copies have the current version. Links lead to the copies beside the catalog, so that a new
    version needs no new link. With skill_ids they are only those of these skills. Raises
    NotInCatalog if the index whose filter counts is no longer configured.
    """
    if directory.is_leaving:
        return
    placed = {} if directory.spec.is_copy else tables.placed(db, skill_ids)
    for entry in agent_entries.entries(db, _selection(db, directory.spec), skill_ids):
        target = entry.package_path
        if target and not directory.spec.is_copy:
            target = placed.get(entry.name)
        if target:
            yield LinkRow(entry.name, entry.skill_id, target)


def _selection(db: Database, spec: LinkedDirectory) -> Selection:
    if spec.index is None:
        return spec.selection
    index = query.index_spec(db, spec.index)
    return Selection(index.levels, index.tags, index.names)
