"""Lock file of an export: the name, version, digest and files of each copied skill."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from catalog.model.errors import NotPossible
from catalog.reading.bundle import name_of
from catalog.reading.published import Package
from catalog.text.suggestions import shown

NAME = "skilldrop.lock"
MOST_BYTES = 256 * 1024 * 1024
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


def render(skills: Iterable[LockedSkill]) -> bytes:
    """Return the lock file of skills, sorted by folder."""
    content = {
        "lock_version": _FORM,
        "skills": [skill._asdict() for skill in sorted(skills)],
    }
    return json.dumps(content, ensure_ascii=False, indent=1).encode() + b"\n"


def parse(content: bytes, path: str) -> dict[str, LockedSkill]:
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
