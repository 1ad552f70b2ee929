"""Packages of the selected skills, each with the name of its folder in a copy."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sqlite_utils import Database

from catalog.model.errors import NotInCatalog, PackageDamaged
from catalog.model.selection import Selection
from catalog.reading import agent_entries
from catalog.reading.published import Package, package_of


class Source(NamedTuple):
    """Skill to copy."""

    folder: str  # its name in the copy
    package: Package


class Failure(NamedTuple):
    """Skill that could not be copied."""

    folder: str
    reason: str  # a sentence


def selected(db: Database, packages: Path, selection: Selection) -> Iterator[Source | Failure]:
    """Yield the published version of each selected skill, in the order of an index."""
    for entry in list(agent_entries.entries(db, selection)):
        try:
            yield Source(entry.name, package_of(db, packages, entry.skill))
        except (NotInCatalog, PackageDamaged) as error:
            yield Failure(entry.name, str(error))
