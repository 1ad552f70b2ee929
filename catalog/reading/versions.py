"""Versions of a skill, and the changes from each to the next; reads only."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from sqlite_utils import Database

from catalog.database import sql, withheld
from catalog.database.sql import Row
from catalog.model.errors import NotInCatalog
from catalog.model.skill import DESCRIBED
from catalog.model.values import Json
from catalog.text.differences import difference
from catalog.text.suggestions import closest, few, shown

NO_LONGER_KEPT = "its files are not kept"
_NOTHING = "{}"  # is all that releases before packages said of a version


@dataclass(frozen=True, slots=True)
class Version:
    """One accepted content, and what it changed in the one before it."""

    version: str
    ingested_at: str
    digest: str
    is_current: bool  # what agents are given, or would be if the skill were active
    has_files: bool  # a package, without which it cannot be returned to
    added: tuple[str, ...]  # paths
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    diff: str  # of SKILL.md, unified; empty where it is the same or there was none before

    def as_json(self) -> dict[str, Json]:
        """Return the fields as they are published."""
        return {
            "version": self.version,
            "ingested_at": self.ingested_at,
            "digest": self.digest,
            "current": self.is_current,
            "has_files": self.has_files,
            "added": self.added,
            "removed": self.removed,
            "changed": self.changed,
            "diff": self.diff,
        }


@dataclass(frozen=True, slots=True)
class History:
    """A skill with all its versions, newest first."""

    skill_id: str
    name: str
    status: str
    held_at: str | None  # the version it stays at until `unpin`
    versions: tuple[Version, ...]

    def as_json(self) -> dict[str, Json]:
        """Return the fields as they are published."""
        return {
            "skill": self.name,
            "skill_id": self.skill_id,
            "status": self.status,
            "held_at": self.held_at,
            "versions": [each.as_json() for each in self.versions],
        }


def find_skill(db: Database, asked: str) -> sql.Row:
    """Return the row of a skill by its exact name, else its skill_id; an active one before others.

    Raises NotInCatalog, which names the closest there are.
    """
    asked = asked.encode(errors="replace").decode()  # a shell may pass on what is not UTF-8
    for column in ("name", "skill_id"):
        for row in list(db.query(_SKILL.format(column), [asked])):
            return row
    names = [name for (name,) in db.execute("SELECT DISTINCT name FROM skills ORDER BY name")]
    near = closest(asked, names)
    there = (
        f"The closest are: {few(near)}."
        if near
        else (f"There are: {few(names)}." if names else "The catalog has none yet.")
    )
    raise NotInCatalog(f"There is no skill {shown(asked)}. {there}")


def history(db: Database, asked: str) -> History:
    """Return all versions of a skill. Raises NotInCatalog."""
    skill = find_skill(db, asked)
    versions = tuple(_versions(db, skill))
    held = next(
        (
            each["version"]
            for each in db.query(
                "SELECT version FROM versions WHERE id = ?", [skill["pinned_version_id"]]
            )
        ),
        None,
    )
    return History(skill["skill_id"], skill["name"], skill["status"], held, versions[::-1])


def find_version(db: Database, skill: sql.Row, version: str) -> sql.Row:
    """Return the row of a version that can be returned to. Raises NotInCatalog, naming those."""
    version = version.encode(errors="replace").decode()
    found = list(db.query("SELECT * FROM versions WHERE skill = ? ORDER BY id DESC", [skill["id"]]))
    kept = [row["version"] for row in found if row["package_path"] and row["described"] != _NOTHING]
    there = f"These can be returned to: {few(kept)}." if kept else "None can be returned to."
    for row in found:
        if row["version"] == version:
            if row["version"] in kept:
                return row
            if row["package_path"]:
                raise NotInCatalog(
                    f"Version {version} of {shown(skill['name'])} was stored by an "
                    "earlier release, which did not note all that is needed to "
                    f"return to it. {there}"
                )
            raise NotInCatalog(
                f"Of version {version} of {shown(skill['name'])} {NO_LONGER_KEPT}. {there}"
            )
    raise NotInCatalog(f"{shown(skill['name'])} has no version {shown(version)}. {there}")


def _versions(db: Database, skill: sql.Row) -> Iterator[Version]:
    files: Mapping[str, tuple[str, str]] = {}
    text = ""
    first = True
    for row in list(db.query("SELECT * FROM versions WHERE skill = ? ORDER BY id", [skill["id"]])):
        now = {
            path: (sha256, mode)
            for path, sha256, mode in db.execute(
                "SELECT path, sha256, mode FROM files WHERE version = ? ORDER BY path", [row["id"]]
            )
        }
        yield Version(
            row["version"],
            row["ingested_at"],
            row["digest"],
            row["id"] == skill["current_version_id"],
            row["package_path"] is not None,
            added=tuple(path for path in now if path not in files),
            removed=tuple(path for path in files if path not in now),
            changed=tuple(path for path in now if path in files and files[path] != now[path]),
            diff="" if first else _diff(text, row["skill_md_content"]),
        )
        files, text, first = now, row["skill_md_content"], False


def _diff(before: str, after: str) -> str:
    return difference(before, after).unified("SKILL.md before", "SKILL.md")


_SKILL = f"""
    SELECT * FROM skills AS s WHERE {{}} = ?
    ORDER BY status = 'active' DESC, {withheld.IS_WITHHELD} DESC, status = 'removed', id LIMIT 1
"""


def restored(version: Row) -> Row:
    """Return what the `skills` table held of a version when it was accepted."""
    described = json.loads(version["described"])
    shared = ("skill_id", "digest", "skill_md_hash", "file_inventory", "frontmatter")
    return (
        {column: version[column] for column in shared}
        | {column: described.get(column, empty) for column, empty in DESCRIBED.items()}
        | {"current_version_id": version["id"]}
    )
