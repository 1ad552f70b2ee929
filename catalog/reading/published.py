"""Lookup of the published version of a skill, and of its files."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from mimetypes import MimeTypes
from pathlib import Path

from sqlite_utils import Database

from catalog.database import sql
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.model.paths import os_path
from catalog.text.suggestions import closest, few, impossible, shown

CURRENT = "current"
"""The link in the folder of a skill's packages that names the published version."""
SKILL_MD = "SKILL.md"


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """One file of a version, as the catalog has it."""

    path: str  # relative to the skill's folder
    kind: str
    size: int  # bytes
    sha256: str  # 64 hex digits
    mode: str  # octal: 644, or 755 if it may be executed
    is_text: bool

    @property
    def executable(self) -> bool:
        """Whether its author meant it to be run."""
        return self.mode == "755"

    @property
    def media_type(self) -> str:
        """What it is by its ending; says nothing about whether a browser should be shown it."""
        return _media_type(self.path, is_text=self.is_text)


@dataclass(frozen=True)
class Package:
    """One published version of a skill, in which a reader stays whatever happens meanwhile."""

    skill_id: str
    skill: str  # its name
    version: str
    digest: str
    files: tuple[PublishedFile, ...]  # sorted by path
    body: str | None  # of SKILL.md without its frontmatter, where the catalog has just that
    top: str  # the packages folder, or the root of a skill that is read in place
    names: tuple[str, ...]  # from there to the folder of the files
    in_place: bool

    @property
    def directory(self) -> str:
        """The absolute path of the folder that holds the files."""
        return "/".join((self.top, *self.names))

    @cached_property
    def by_path(self) -> dict[str, PublishedFile]:
        """The files by their paths."""
        return {file.path: file for file in self.files}

    @property
    def skill_md(self) -> PublishedFile | None:
        """SKILL.md, whatever upper and lower case it is written in."""
        return next((file for file in self.files if file.kind == "skill_md"), None)


def package_of(
    db: Database, packages: Path, skill_name: str, version: str | None = None
) -> Package:
    """Return the published version of an active skill, by its exact name or else its skill_id.

    With a version it is that one, superseded or not, as long as its files are kept. Raises
    NotInCatalog, which names the skills that come closest, or the present version.
    """
    asked = _as_text(skill_name)
    row = _active(db, asked)
    if row is None:
        raise NotInCatalog(_no_skill(db, asked))
    if version and not (row["package_path"] is None and version == row["version"]):
        return _kept(db, packages, row, _as_text(version))
    if row["package_path"] is None:
        return _in_place(db, row)
    return _published(db, packages, row)


def find_file(package: Package, file_path: str) -> PublishedFile:
    """Return the entry of a path in a package. Raises NotInCatalog and PathRefused."""
    known = package.by_path
    if found := known.get(file_path) or known.get(file_path.removeprefix("./")):
        return found
    if file_path == SKILL_MD and package.skill_md:
        return package.skill_md
    there = _files_there(package, file_path)
    if why := impossible(file_path):
        raise PathRefused(f"{shown(file_path)} is refused: {why}. {there}")
    raise NotInCatalog(f"The skill {shown(package.skill)} has no file {shown(file_path)}. {there}")


# Which version

_ACTIVE = """
    SELECT s.id, s.skill_id, s.name, s.root, s.path, s.package_path, v.id AS version_id,
           v.version, v.digest
    FROM skills AS s JOIN versions AS v ON v.id = s.current_version_id
    WHERE s.status = 'active' AND {} = ? ORDER BY s.id LIMIT 1
"""


def _active(db: Database, asked: str) -> sql.Row | None:
    for column in ("s.name", "s.skill_id"):
        for row in list(db.query(_ACTIVE.format(column), [asked])):
            return row
    return None


def _published(db: Database, packages: Path, row: sql.Row) -> Package:
    """Follow `current` once; where it is not there yet, the row names the same package."""
    try:
        target = os.readlink(packages / row["skill_id"] / CURRENT)
    except OSError:
        target = f"../{row['package_path']}"
    # A package stays under the skill_id that its skill had: `current` leads to it from the new.
    own, _, version = _as_text(target).rpartition("/")
    found = list(
        db.query(
            _VERSION,
            {
                "own": own.removeprefix("../") or row["skill_id"],
                "version": version,
                "skill": row["id"],
                "skill_id": row["skill_id"],
            },
        )
    )
    if not found:
        raise PackageDamaged(
            f"The link {CURRENT} of {shown(row['name'])} leads to no version that "
            "the catalog knows; the next `skilldrop scan` mends it."
        )
    return _package(
        db, row | found[0], str(packages), (found[0]["own"], found[0]["version"]), in_place=False
    )


def _kept(db: Database, packages: Path, row: sql.Row, version: str) -> Package:
    for found in list(
        db.query(_OF_SKILL, {"version": version, "skill": row["id"], "skill_id": row["skill_id"]})
    ):
        return _package(
            db, row | found, str(packages), (found["own"], found["version"]), in_place=False
        )
    raise NotInCatalog(
        f"Version {shown(version)} of {shown(row['name'])} is no longer kept, or "
        f"never was; the present one is {row['version']}."
    )


_VERSION = """
    SELECT id AS version_id, version, digest, skill_id AS own FROM versions
    WHERE skill_id = :own AND version = :version AND (skill_id = :skill_id OR skill = :skill)
"""
_OF_SKILL = """
    SELECT id AS version_id, version, digest, skill_id AS own FROM versions
    WHERE version = :version AND (skill_id = :skill_id OR skill = :skill)
        AND package_path IS NOT NULL
    ORDER BY skill_id = :skill_id DESC, id DESC LIMIT 1
"""


def _as_text(name: str) -> str:
    """Return a name of the system, which need not be UTF-8, as the catalog can be asked for it."""
    return name.encode(errors="replace").decode()


def _in_place(db: Database, row: sql.Row) -> Package:
    if "!/" in row["path"]:
        raise NotInCatalog(
            f"The skill {shown(row['name'])} lies in an archive and is not yet "
            "published; ask again in a moment."
        )
    return _package(db, row, row["root"], tuple(os_path(row["path"]).split("/")), in_place=True)


def _package(
    db: Database, row: sql.Row, top: str, names: tuple[str, ...], *, in_place: bool
) -> Package:
    files = db.query(
        "SELECT path, kind, size, sha256, mode, is_text FROM files WHERE version = ? ORDER BY path",
        [row["version_id"]],
    )
    body = db.execute(
        "SELECT (SELECT body FROM searched_texts WHERE id = s.id) FROM skills AS s"
        " WHERE s.id = ? AND s.current_version_id = ?",
        [row["id"], row["version_id"]],
    ).fetchone()
    return Package(
        row["skill_id"],
        row["name"],
        row["version"],
        row["digest"],
        tuple(PublishedFile(**file | {"is_text": bool(file["is_text"])}) for file in files),
        body[0] if body else None,
        top,
        names,
        in_place,
    )


# What there is instead

_BESIDES = """
    SELECT status FROM skills
    WHERE (name = :asked OR skill_id = :asked) AND status <> 'active'
    ORDER BY status = 'removed', id LIMIT 1
"""
_SIMILAR = """
    SELECT name FROM skills WHERE status = 'active'
    ORDER BY lower(substr(name, 1, 1)) = lower(substr(:asked, 1, 1)) DESC,
             abs(length(name) - length(:asked)), name LIMIT 2000
"""


def _no_skill(db: Database, asked: str) -> str:
    """Say that there is no such skill, why if one is known, and which ones there are."""
    why = f"There is no active skill {shown(asked)}."
    for row in list(db.query(_BESIDES, {"asked": asked})):
        said = "" if row["status"] == "removed" else "; `skilldrop status` says why"
        why = f"The skill {shown(asked)} is {row['status']}{said}."
    names = [row["name"] for row in db.query(_SIMILAR, {"asked": asked})]
    if near := closest(asked, names):
        return f"{why} The closest are: {few(near)}."
    if names:
        return f"{why} There are: {few(sorted(names))}."
    return f"{why} The catalog has none yet."


def _files_there(package: Package, asked: str) -> str:
    paths = [file.path for file in package.files]
    folder = asked.strip("/") + "/"
    if inside := [path for path in paths if path.startswith(folder)]:
        return f"It is a directory, which holds: {few(inside)}."
    last = asked.rstrip("/").rpartition("/")[2]
    same = [path for path in paths if path.rpartition("/")[2] == last]
    if near := same or closest(asked, paths):
        return f"The closest are: {few(near)}."
    return f"It has: {few(_important(paths))}." if paths else "It has no files."


def _important(paths: Sequence[str]) -> list[str]:
    """Return paths with those of fewest folders first."""
    return sorted(paths, key=lambda path: (path.count("/"), path))


# What a file is


def _media_type(path: str, *, is_text: bool) -> str:
    # With "./" ahead, a name like "data:text/html,x" is not taken for a URL.
    guessed, packed = _BY_ENDING.guess_type(f"./{path}".lower())
    if packed:
        return _PACKED.get(packed, "application/octet-stream")
    return guessed or ("text/plain" if is_text else "application/octet-stream")


_PACKED = {"gzip": "application/gzip", "bzip2": "application/x-bzip2", "xz": "application/x-xz"}
_BY_ENDING = MimeTypes()  # Python's own table, the same on every machine
for _ending, _type in (
    (".md", "text/markdown"),
    (".markdown", "text/markdown"),
    (".yaml", "application/yaml"),
    (".yml", "application/yaml"),
    (".toml", "application/toml"),
    (".ts", "text/plain"),
):
    _BY_ENDING.add_type(_type, _ending)
