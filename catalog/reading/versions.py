"""Versions of a skill, and the changes between them; reads only."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from catalog.database import sql
from catalog.database.queries import Database
from catalog.database.sql import Row
from catalog.model.errors import NotInCatalog
from catalog.model.fields import EMPTY
from catalog.model.values import Json
from catalog.reading.named import find_skill
from catalog.text.differences import difference
from catalog.text.suggestions import few, shown

_UNFIT = {"waits": "waits for review", "rejected": "was rejected in review"}
_NOTHING = "{}"  # as releases without packages stored a version


@dataclass(frozen=True, slots=True)
class Version:
    """Accepted content, and its changes from the version before."""

    version: str
    ingested_at: str
    digest: str
    is_current: bool  # the version that agents get while the skill is active
    has_files: bool  # whether it has a package, which a rollback needs
    review: str | None  # waits, approved or rejected; None if it needed none
    added: tuple[str, ...]  # paths
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    git_commit: str | None  # of the repository that it came from
    diff: str  # of SKILL.md, unified; empty if it is the same or this is the first version

    def as_json(self) -> dict[str, Json]:
        """Return the fields as they are published."""
        return {
            "version": self.version,
            "ingested_at": self.ingested_at,
            "digest": self.digest,
            "current": self.is_current,
            "has_files": self.has_files,
            "review": self.review,
            "added": self.added,
            "removed": self.removed,
            "changed": self.changed,
            "git_commit": self.git_commit,
            "diff": self.diff,
        }


@dataclass(frozen=True, slots=True)
class History:
    """Skill with all its versions, newest first."""

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
            "versions": [version.as_json() for version in self.versions],
        }


def history(db: Database, asked: str) -> History:
    """Return all versions of a skill. Raises NotInCatalog."""
    skill = find_skill(db, asked)
    versions = tuple(_versions(db, skill))
    held_at = next(
        (
            row["version"]
            for row in db.query(
                "SELECT version FROM versions WHERE id = ?", [skill["pinned_version_id"]]
            )
        ),
        None,
    )
    return History(skill["skill_id"], skill["name"], skill["status"], held_at, versions[::-1])


def find_version(db: Database, skill: sql.Row, version: str) -> sql.Row:
    """Return the row of a version with a package. Raises NotInCatalog, which lists these."""
    version = version.encode(errors="replace").decode()
    rows = list(
        db.query("SELECT * FROM version_contents WHERE skill = ? ORDER BY id DESC", [skill["id"]])
    )
    kept = [
        row["version"]
        for row in rows
        if row["package_path"] and row["described"] != _NOTHING and row["review"] not in _UNFIT
    ]
    choices = f"Versions to choose from: {few(kept)}." if kept else "No version can be restored."
    for row in rows:
        if row["version"] == version:
            if row["version"] in kept:
                return row
            if row["review"] in _UNFIT:
                raise NotInCatalog(
                    f"Version {version} of {shown(skill['name'])} {_UNFIT[row['review']]}; "
                    f"`skilldrop approve` publishes it. {choices}"
                )
            if row["package_path"]:
                raise NotInCatalog(
                    f"Version {version} of {shown(skill['name'])} was stored by an "
                    f"earlier release, without the data to restore it. {choices}"
                )
            raise NotInCatalog(
                f"The files of version {version} of {shown(skill['name'])} are not kept. {choices}"
            )
    raise NotInCatalog(f"{shown(skill['name'])} has no version {shown(version)}. {choices}")


def _versions(db: Database, skill: sql.Row) -> Iterator[Version]:
    files: Mapping[str, tuple[str, str]] = {}
    text = ""
    first = True
    for row in list(
        db.query("SELECT * FROM version_contents WHERE skill = ? ORDER BY id", [skill["id"]])
    ):
        present = {
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
            row["review"],
            added=tuple(path for path in present if path not in files),
            removed=tuple(path for path in files if path not in present),
            changed=tuple(
                path for path in present if path in files and files[path] != present[path]
            ),
            git_commit=row["git_commit"],
            diff="" if first else _diff(text, row["skill_md_content"]),
        )
        files, text, first = present, row["skill_md_content"], False


def _diff(before: str, after: str) -> str:
    return difference(before, after).unified("SKILL.md before", "SKILL.md")


def restored(version: Row) -> Row:
    """Return the columns of `skills` as they were when a version was accepted."""
    described = json.loads(version["described"])
    shared = ("skill_id", "digest", "skill_md_hash", "file_inventory", "frontmatter")
    return (
        {column: version[column] for column in shared}
        | {column: described.get(column, empty) for column, empty in EMPTY.items()}
        | {"current_version_id": version["id"]}
    )
