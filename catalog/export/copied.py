"""Skills of a copy: those that are selected, and its lock file."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog, NotPossible, PackageDamaged
from catalog.model.setting import EVERY, Selection
from catalog.reading.files.bundle import name_of
from catalog.reading.files.published import Package, package_of
from catalog.reading.skills import offered, references
from catalog.text.suggestions import shown


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
    entries = list(offered.entries(db, selection, among=offered.HAS_ENTRY))
    if with_needed:
        ids, missing = references.with_needed(db, [entry.skill_id for entry in entries])
        entries = list(offered.entries(db, EVERY, ids, offered.HAS_ENTRY))
        for row in missing:
            yield Failure(row["target"], f"{row['name']} needs it, but it is not published")
    for entry in entries:
        try:
            yield CopiedSkill(entry.name, package_of(db, packages, entry.skill))
        except (NotInCatalog, PackageDamaged) as error:
            yield Failure(entry.name, str(error))


LOCK_FILE = "skilldrop.lock"
MOST_LOCK_BYTES = 256 * 1024 * 1024
"""Bytes that are read of a lock file; a larger one is refused as incomplete."""
_FORM = 1


class LockedSkill(NamedTuple):
    """Skill in a lock file."""

    folder: str
    name: str
    version: str
    digest: str
    files: Mapping[str, str]  # SHA-256 by path in the folder


def locked(folder: str, package: Package) -> LockedSkill:
    """Return the entry of a package that is copied into a folder."""
    return LockedSkill(
        folder,
        package.skill,
        package.version,
        package.digest,
        {name_of(entry): entry.sha256 for entry in package.files},
    )


def render_lock(skills: Iterable[LockedSkill]) -> bytes:
    """Return the lock file of skills, sorted by folder."""
    content = {
        "lock_version": _FORM,
        "skills": [skill._asdict() for skill in sorted(skills)],
    }
    return json.dumps(content, ensure_ascii=False, indent=1).encode() + b"\n"


def parse_lock(content: bytes, path: str) -> dict[str, LockedSkill]:
    """Return the skills of a lock file by folder. Raises NotPossible if it is not one."""
    try:
        value = json.loads(content)
        if value["lock_version"] != _FORM:
            raise ValueError("another version of skilldrop has written it")
        skills = [_skill(skill) for skill in value["skills"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise NotPossible(
            f"{path} is not a lock file of an export ({error}), so nothing beside it is changed. "
            "Restore it, or export to another directory."
        ) from None
    return {skill.folder: skill for skill in skills}


def _skill(value: Mapping[str, Any]) -> LockedSkill:
    skill = LockedSkill(
        str(value["folder"]),
        str(value["name"]),
        str(value["version"]),
        str(value["digest"]),
        {str(path): str(sha256) for path, sha256 in value["files"].items()},
    )
    if "/" in skill.folder or not all(map(_stays_inside, (skill.folder, *skill.files))):
        raise ValueError(f"a path of {shown(skill.folder)} leads out of it")
    return skill


def _stays_inside(path: str) -> bool:
    return "\0" not in path and {"", ".", ".."}.isdisjoint(path.split("/"))
