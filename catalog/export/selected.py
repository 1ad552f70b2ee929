"""Packages of the selected skills, each with the name of its folder in a copy."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog, PackageDamaged
from catalog.model.setting import EVERY, Selection
from catalog.reading import offered, references
from catalog.reading.published import Package, package_of


class CopiedSkill(NamedTuple):
    """Skill to copy."""

    folder: str  # its name in the copy
    package: Package


class Failure(NamedTuple):
    """Skill that could not be copied."""

    folder: str
    reason: str  # a sentence


def selected(
    db: Database, packages: Path, selection: Selection, *, with_needed: bool = False
) -> Iterator[CopiedSkill | Failure]:
    """Yield the published version of each selected skill, in the order of an index.

    With `with_needed` also those of all skills that they declare to need; one that is not published
    is a failure.
    """
    entries = list(offered.entries(db, selection))
    if with_needed:
        ids, missing = references.with_needed(db, [entry.skill_id for entry in entries])
        entries = list(offered.entries(db, EVERY, ids))
        for row in missing:
            yield Failure(row["target"], f"{row['name']} needs it, but it is not published")
    for entry in entries:
        try:
            yield CopiedSkill(entry.name, package_of(db, packages, entry.skill))
        except (NotInCatalog, PackageDamaged) as error:
            yield Failure(entry.name, str(error))
