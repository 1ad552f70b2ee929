"""Skill and version of a run: by its outcome, else by the folders or the name of its file."""

import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple, TypeAlias

from catalog.database.queries import Database
from catalog.model.naming import is_skill_id, skill_id

_SEPARATORS = re.compile(r"[\W_]")
_VERSIONS = re.compile(r"(@?)(?<!\d)(\d{8}-\d{6})(-\d)?(?!\d)")


class Origin(NamedTuple):
    """Skill that ran and its version, as they are named, and their rows if the catalog has them."""

    skill_id: str | None = None  # None where nothing names a skill
    version_declared: str | None = None
    skill: int | None = None
    version: int | None = None


FindOrigin: TypeAlias = Callable[[str, str | None, str | None], Origin]
_Current: TypeAlias = Callable[[str], tuple[int, int | None] | None]


def origins(db: Database) -> FindOrigin:
    """Return a function from the path, the skill and the version of an outcome to its origin.

    It remembers skills, so it is for one batch. The skill of the outcome may be a name or a
    skill_id, also `skill@version`; without it, the first folder that is a skill of the catalog
    counts, and for a file in no folder the longest beginning of its name that is one. Without a
    version, the current one counts.
    """

    @cache
    def current(named: str) -> tuple[int, int | None] | None:
        row: tuple[int, int | None] | None = db.execute(_CURRENT, [named]).fetchone()
        return row

    def find(path: str, skill: str | None, version: str | None) -> Origin:
        if skill:
            name, _, after = skill.partition("@")
            return _ran(db, current, _id_of(name), version or after or None)
        named = _named_by_path(current, path)
        if named and not version:
            version = _version_in(db, named, path)
        return _ran(db, current, named, version) if named else Origin(None, version)

    return find


def _named_by_path(current: _Current, path: str) -> str | None:
    """Return the skill_id that a path names; that of the first folder if all are unknown."""
    *folders, file = path.split("/")
    names = [_id_of(folder.partition("@")[0]) for folder in folders]
    known = (name for name in names or _beginnings(file.rpartition(".")[0]) if current(name))
    return next(known, names[0] if names else None)


def _beginnings(name: str) -> Iterator[str]:
    """Yield the skill_ids that a name could begin with, longest first."""
    ends = [match.start() for match in _SEPARATORS.finditer(name)]
    for end in (len(name), *reversed(ends)):
        if is_skill_id(beginning := name[:end].lower()):
            yield beginning


def _version_in(db: Database, named: str, path: str) -> str | None:
    """Return the version in a path: one that the skill has, or one behind an @.

    A run may be named by its time, which looks like a version.
    """
    for at, second, suffix in _VERSIONS.findall(path):
        for version in (second + suffix, second):
            if db.execute(_VERSION, [named, version]).fetchone():
                return str(version)
        if at:
            return str(second + suffix)
    return None


def _ran(db: Database, current: _Current, named: str, version: str | None) -> Origin:
    skill, newest = current(named) or (None, None)
    if version is None:
        return Origin(named, None, skill, newest)
    row = db.execute(_VERSION, [named, version]).fetchone()
    return Origin(named, version, *(row or (skill, None)))


def _id_of(name: str) -> str:
    """Return the skill_id of a skill by its name or its skill_id."""
    if is_skill_id(name):
        return name
    namespace, _, own = name.rpartition(":")
    return skill_id(own, namespace or None, name)


_CURRENT = """
    SELECT id, current_version_id FROM skills WHERE skill_id = ?
    ORDER BY status != 'active', last_changed DESC LIMIT 1
"""
_VERSION = "SELECT skill, id FROM versions WHERE skill_id = ? AND version = ?"
