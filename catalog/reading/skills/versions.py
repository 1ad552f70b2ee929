"""Versions of a skill, and the files that differ between two of them; reads only."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from catalog.database.expressions import REVIEW_NOW
from catalog.database.queries import Database, Row
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.model.fields import EMPTY
from catalog.reading.files import skill_files
from catalog.reading.files.published import package_of
from catalog.reading.lookup import find_skill
from catalog.text.differences import ComparisonsLeft, difference
from catalog.text.suggestions import few, shown

UNFIT = {"waits": "waits for review", "rejected": "was rejected in review"}


def history(db: Database, asked: str, packages: Path | None = None) -> dict[str, Any]:
    """Return a skill with all its versions, newest first, as published. Raises NotInCatalog.

    With the folder of packages, each version has a `diff` of its text files to the one before.
    """
    skill = find_skill(db, asked)
    versions = list(_versions(db, skill, packages))
    pinned = db.execute("SELECT version FROM versions WHERE id = ?", [skill["pinned_version_id"]])
    pinned_to = pinned.fetchone()
    return {
        "skill": skill["name"],
        "skill_id": skill["skill_id"],
        "status": skill["status"],
        "pinned_to": pinned_to[0] if pinned_to else None,
        "versions": versions[::-1],
    }


def _versions(db: Database, skill: Row, packages: Path | None) -> Iterator[dict[str, Any]]:
    """Yield the versions of a skill, oldest first, each with its changes from the one before."""
    before: Mapping[str, Row] = {}
    rows = db.rows(_REVIEWED, [skill["id"]])
    for row, last in zip(rows, [None, *rows], strict=False):
        present = files(db, row["id"])
        yield {
            "version": row["version"],
            "ingested_at": row["ingested_at"],
            "digest": row["digest"],
            "current": row["id"] == skill["current_version_id"],
            "has_files": row["package_path"] is not None,
            "review": row["review_now"],
            "why": row["why"] if row["review"] else None,
            **differing(before, present),
            "git_commit": row["git_commit"],
        } | ({"diff": _diff(db, skill, last, row, packages) if last else ""} if packages else {})
        before = present


def _diff(db: Database, skill: Row, before: Row, version: Row, packages: Path) -> str:
    """Return the changed lines of each file with a text, scripts first."""
    names = {row["id"]: row["version"] for row in (before, version)}
    packaged = texts_in_packages(db, packages, skill, names)
    old, new = changed_files(db, before["id"], version["id"], room=MOST_BYTES, packaged=packaged)
    work = ComparisonsLeft()
    found = []
    for path in in_order(list(old | new), old, new):
        was, now = (rows[path]["text"] if path in rows else "" for rows in (old, new))
        if was is None or now is None:
            found.append(f"{path}: there is no text to compare, or too much.")
        else:
            compared = difference(was, now, work)
            found += [f"{path}: {compared.note}"] if compared.note else []
            found.append(compared.unified(f"{path} before", path))
    return "\n".join(found)


def find_version(db: Database, skill: Row, version: str) -> Row:
    """Return the row of a version with a package. Raises NotInCatalog, which lists these."""
    version = version.encode(errors="replace").decode()
    rows = {row["version"]: row for row in db.query(f"{_OF_SKILL} ORDER BY id DESC", [skill["id"]])}
    kept = [
        name
        for name, row in rows.items()
        if row["package_path"] and row["described"] != "{}" and row["review"] not in UNFIT
    ]
    if version in kept:
        return rows[version]
    choices = f"Versions to choose from: {few(kept)}." if kept else "No version can be restored."
    name = shown(skill["name"])
    if version not in rows:
        raise NotInCatalog(f"{name} has no version {shown(version)}. {choices}")
    if unfit := UNFIT.get(rows[version]["review"]):
        raise NotInCatalog(
            f"Version {version} of {name} {unfit}; `skilldrop review` lists it. {choices}"
        )
    raise NotInCatalog(f"The files of version {version} of {name} are not kept. {choices}")


_OF_SKILL = "SELECT * FROM version_contents WHERE skill = ?"
_REVIEWED = f"""
    SELECT v.*, {REVIEW_NOW} AS review_now,
           (SELECT why FROM reviews WHERE digest = v.digest ORDER BY id DESC LIMIT 1) AS why
    FROM version_contents AS v WHERE skill = ? ORDER BY id
"""


def of_skill(db: Database, skill: int) -> list[Row]:
    """Return the versions of a skill, newest first; `declared` is what the author calls it."""
    return db.rows(
        "SELECT id, version, ingested_at, superseded_at, digest, file_inventory,"
        " coalesce(frontmatter ->> '$.metadata.version', frontmatter ->> '$.version') AS declared,"
        f" {REVIEW_NOW} AS review, git_commit, changes FROM versions AS v WHERE skill = ?"
        " ORDER BY ingested_at DESC, id DESC",
        [skill],
    )


def named(db: Database, skill_id: str, name: str) -> Row | None:
    """Return a version by its name, which is unique within a skill_id."""
    return db.row(
        "SELECT id, skill, version, ingested_at, superseded_at FROM versions"
        " WHERE skill_id = ? AND version = ?",
        [skill_id, name],
    )


def as_of(db: Database, skill: Row, version: str) -> Row | None:
    """Return a skill as it was in one of its versions; None where that is unknown.

    Its `is_newest` is 0, because the present findings are not those of that version.
    """
    for row in db.query(
        f"{_OF_SKILL} AND version = ? AND described <> '{{}}'", [skill["id"], version]
    ):
        own = {key: row[key] for key in ("package_path", "skill_md_content", "ingested_at")}
        kept = {"skill_id": skill["skill_id"], "is_newest": 0, "version": version}
        return skill | restored(row) | own | kept
    return None


def restored(version: Row) -> Row:
    """Return the columns of `skills` as they were when a version was accepted."""
    described = json.loads(version["described"])
    shared = ("skill_id", "digest", "skill_md_hash", "file_inventory", "frontmatter")
    return (
        {column: version[column] for column in shared}
        | {column: described.get(column, empty) for column, empty in EMPTY.items()}
        | {"current_version_id": version["id"]}
    )


# Files of versions

MOST_BYTES = 1_000_000
"""Most bytes of a file whose text is read from a package."""

Texts = Callable[[int, str], str | None]
"""Text of a file of a version, given the version's id and the path; None if it is not kept."""


def files(db: Database, version: int | None) -> dict[str, Row]:
    """Return the files of a version by path, without their text; none without a version."""
    rows = db.query(
        "SELECT path, kind, size, sha256, mode, is_text FROM files WHERE version = ? ORDER BY path",
        [version],
    )
    return {row["path"]: row for row in rows}


def file(db: Database, version: int, path: str) -> Row | None:
    """Return one file of a version with its text, if the catalog has it."""
    rows = db.query(
        "SELECT f.path, f.kind, f.size, f.sha256, f.mode, f.is_text, CASE f.kind"
        " WHEN 'skill_md' THEN v.skill_md_content ELSE f.text END AS text FROM file_contents AS f"
        " JOIN version_contents AS v ON v.id = f.version WHERE f.version = ? AND f.path = ?",
        [version, path],
    )
    return next(rows, None)


def differing(old: Mapping[str, Row], new: Mapping[str, Row]) -> dict[str, tuple[str, ...]]:
    """Return the paths of the files that were `added`, `removed` and `changed`."""
    return {
        "added": tuple(path for path in new if path not in old),
        "removed": tuple(path for path in old if path not in new),
        "changed": tuple(
            path for path in new if path in old and _content(old[path]) != _content(new[path])
        ),
    }


def changed_files(
    db: Database,
    before: int | None,
    version: int,
    only: str = "",
    *,
    room: int,
    packaged: Texts = lambda version, path: None,
) -> tuple[dict[str, Row], dict[str, Row]]:
    """Return the files that differ between two versions, by path, with up to `room` characters.

    Texts that the catalog does not store are those of `packaged`. A file beyond the room has
    `is_left_out`, unless only one file is wanted.
    """
    old, new = files(db, before), files(db, version)
    changed = [
        path for paths in differing(old, new).values() for path in paths if only in ("", path)
    ]
    for path in in_order(changed, old, new):
        for id_, rows in ((before, old), (version, new)):
            if id_ and (row := rows.get(path)):
                is_left_out = room <= 0 and not only
                text = None if is_left_out else _text(db, id_, row, packaged)
                room -= len(text or "")
                rows[path] = row | {"text": text, "is_left_out": is_left_out}
    return (
        {path: old[path] for path in changed if path in old},
        {path: new[path] for path in changed if path in new},
    )


def in_order(paths: Sequence[str], old: Mapping[str, Row], new: Mapping[str, Row]) -> list[str]:
    """Return paths in the order in which a reader should check them: scripts, SKILL.md, others."""

    def rank(path: str) -> tuple[int, str]:
        rows = [rows[path] for rows in (old, new) if path in rows]
        return (0 if any(map(is_script, rows)) else 1 if path.lower() == "skill.md" else 2), path

    return sorted(paths, key=rank)


def is_script(file: Row) -> bool:
    """Return whether a file can be run."""
    return bool(file["kind"] == "script" or file["mode"] == "755")


def texts_in_packages(
    db: Database, packages: Path, skill: Row, versions: Mapping[int, str]
) -> Texts:
    """Return the texts in the packages of an active skill; versions has their names."""

    def text(version: int, path: str) -> str | None:
        with suppress(NotInCatalog, PathRefused, PackageDamaged):
            package = package_of(db, packages, skill["skill_id"], versions[version])
            file = skill_files.read(package, path)
            return None if file.encoding == "base64" else file.text
        return None

    return text


def _text(db: Database, version: int, row: Row, packaged: Texts) -> str | None:
    if not row["is_text"]:
        return None
    stored = file(db, version, row["path"])
    if (not stored or stored["text"] is None) and row["size"] <= MOST_BYTES:
        return packaged(version, row["path"])
    return stored["text"] if stored else None


def _content(file: Row) -> tuple[str, str]:
    return file["sha256"], file["mode"]
