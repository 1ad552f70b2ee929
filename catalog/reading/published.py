"""Lookup of published versions of skills, and of their files."""

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from mimetypes import MimeTypes
from pathlib import Path

from catalog.database import sql
from catalog.database.expressions import FOLDER_NAME, MAY_BE_PUBLISHED
from catalog.database.queries import Database
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.model.naming import CURRENT
from catalog.model.paths import os_path
from catalog.reading import named
from catalog.text.suggestions import closest, few, impossible, shown

SKILL_MD = "SKILL.md"
CURE = (
    "on the writer `skilldrop reconcile` repairs it, on a copy the next round of `skilldrop-pull` "
    "and `skilldrop restore`"
)
"""Advice where package and catalog differ; on a copy, one of them has not arrived yet."""


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """File of a version, as the catalog has it."""

    path: str  # relative to the skill's folder
    kind: str
    size: int  # bytes
    sha256: str  # 64 hex digits
    mode: str  # octal: 644, or 755 if it may be executed
    is_text: bool

    @property
    def executable(self) -> bool:
        """Whether its author made it executable."""
        return self.mode == "755"

    @property
    def media_type(self) -> str:
        """Media type by its ending; not a promise that a browser may show it."""
        return _media_type(self.path, is_text=self.is_text)


@dataclass(frozen=True)
class Package:
    """One published version of a skill; a reader stays in it whatever is published meanwhile."""

    skill_id: str
    skill: str  # its name
    version: str
    digest: str
    files: tuple[PublishedFile, ...]  # sorted by path
    body: str | None  # of SKILL.md without frontmatter, if the catalog has that of this version
    top: str  # the packages folder, or the root of a skill published in place
    names: tuple[str, ...]  # path from there to the folder of the files
    in_place: bool
    folder: str | None = None  # its name among the published skills, if it is the current version

    @property
    def directory(self) -> str:
        """Absolute path of a folder that has the files, for agents."""
        if self.folder:
            return f"{Path(self.top).with_name('skills')}/{self.folder}"
        return "/".join((self.top, *self.names))

    @cached_property
    def by_path(self) -> dict[str, PublishedFile]:
        """Files by path."""
        return {file.path: file for file in self.files}

    @property
    def skill_md(self) -> PublishedFile | None:
        """SKILL.md, in whatever upper and lower case."""
        return next((file for file in self.files if file.kind == "skill_md"), None)


def package_of(
    db: Database,
    packages: Path,
    skill_name: str,
    version: str | None = None,
    *,
    by_id: bool = False,
) -> Package:
    """Return the published version of an active skill, by its exact name or else its skill_id.

    With by_id, its skill_id comes first. With a version it is that one, even if superseded, while
    its files are kept. Raises NotInCatalog, which suggests the closest skills or the current
    version.
    """
    name = _as_text(skill_name)
    row = _active(db, name, by_id=by_id)
    if row is None:
        raise NotInCatalog(_no_skill(db, name))
    if version and not (row["package_path"] is None and version == row["version"]):
        return _kept(db, packages, row, _as_text(version))
    if row["package_path"] is None:
        return _in_place(db, row)
    return _published(db, packages, row)


def find_file(package: Package, file_path: str) -> PublishedFile:
    """Return the entry of a path in a package. Raises NotInCatalog and PathRefused."""
    files = package.by_path
    if file := files.get(file_path) or files.get(file_path.removeprefix("./")):
        return file
    if file_path == SKILL_MD and package.skill_md:
        return package.skill_md
    suggestion = _suggest_files(package, file_path)
    if reason := impossible(file_path):
        raise PathRefused(f"{shown(file_path)} is refused: {reason}. {suggestion}")
    raise NotInCatalog(
        f"The skill {shown(package.skill)} has no file {shown(file_path)}. {suggestion}"
    )


# Versions

_ACTIVE = f"""
    SELECT s.id, s.skill_id, s.name, s.root, s.path, s.package_path, v.id AS version_id,
           v.version, v.digest, {FOLDER_NAME} AS folder
    FROM skills AS s JOIN versions AS v ON v.id = s.current_version_id
    WHERE s.status = 'active' AND {{}} = ? ORDER BY s.id LIMIT 1
"""


def _active(db: Database, name: str, *, by_id: bool) -> sql.Row | None:
    for column in ("s.skill_id", "s.name") if by_id else ("s.name", "s.skill_id"):
        for row in list(db.query(_ACTIVE.format(column), [name])):
            return row
    skill_id = named.skill_id_of_bare_name(db, name)
    return next(iter(db.query(_ACTIVE.format("s.skill_id"), [skill_id])), None)


def _published(db: Database, packages: Path, row: sql.Row) -> Package:
    """Follow `current` once; where it leads to no version of the catalog, the row has the package.

    That is so before the first publication, and on a copy whose links are newer than its catalog.
    """
    found: list[sql.Row] = []
    with suppress(OSError):
        found = _at(db, row, os.readlink(packages / row["skill_id"] / CURRENT))
    found = found or _at(db, row, f"../{row['package_path']}")
    if not found:
        raise PackageDamaged(
            f"The link {CURRENT} of {shown(row['name'])} points to no version in the catalog; "
            f"{CURE}."
        )
    return _package(
        db, row | found[0], str(packages), (found[0]["own"], found[0]["version"]), in_place=False
    )


def _at(db: Database, row: sql.Row, target: str) -> list[sql.Row]:
    """Return the version of a skill that a `current` link with a target leads to, if any.

    A renamed skill keeps its packages under the old skill_id; the new `current` points there.
    """
    own, _, version = _as_text(target).rpartition("/")
    return list(
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


def _kept(db: Database, packages: Path, row: sql.Row, version: str) -> Package:
    for kept in list(
        db.query(_OF_SKILL, {"version": version, "skill": row["id"], "skill_id": row["skill_id"]})
    ):
        return _package(
            db,
            row | kept | {"folder": None},
            str(packages),
            (kept["own"], kept["version"]),
            in_place=False,
        )
    raise NotInCatalog(
        f"Version {shown(version)} of {shown(row['name'])} does not exist or is "
        f"no longer kept. The current version is {row['version']}."
    )


_VERSION = """
    SELECT id AS version_id, version, digest, skill_id AS own FROM versions
    WHERE skill_id = :own AND version = :version AND (skill_id = :skill_id OR skill = :skill)
"""
_OF_SKILL = f"""
    SELECT id AS version_id, version, digest, skill_id AS own FROM versions
    WHERE version = :version AND (skill_id = :skill_id OR skill = :skill)
        AND package_path IS NOT NULL AND {MAY_BE_PUBLISHED.format("versions")}
    ORDER BY skill_id = :skill_id DESC, id DESC LIMIT 1
"""


def _as_text(name: str) -> str:
    """Return a name of the system, which need not be UTF-8, as text for a query."""
    return name.encode(errors="replace").decode()


def _in_place(db: Database, row: sql.Row) -> Package:
    if "!/" in row["path"]:
        raise NotInCatalog(
            f"The skill {shown(row['name'])} is in an archive and not yet "
            "published; try again in a moment."
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
        None if in_place else row["folder"],
    )


# Suggestions

_INACTIVE = """
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
    """Return why no active skill has a name, and which names are closest."""
    message = f"There is no active skill {shown(asked)}."
    for row in list(db.query(_INACTIVE, {"asked": asked})):
        advice = "" if row["status"] == "removed" else "; `skilldrop status` says why"
        message = f"The skill {shown(asked)} is {row['status']}{advice}."
    names = [row["name"] for row in db.query(_SIMILAR, {"asked": asked})]
    if near := closest(asked, names):
        return f"{message} The closest are: {few(near)}."
    if names:
        return f"{message} There are: {few(sorted(names))}."
    return f"{message} The catalog has none yet."


def _suggest_files(package: Package, asked: str) -> str:
    paths = [file.path for file in package.files]
    folder = asked.strip("/") + "/"
    if inside := [path for path in paths if path.startswith(folder)]:
        return f"It is a directory with: {few(inside)}."
    last = asked.rstrip("/").rpartition("/")[2]
    same = [path for path in paths if path.rpartition("/")[2] == last]
    if near := same or closest(asked, paths):
        return f"The closest are: {few(near)}."
    return f"It has: {few(_important(paths))}." if paths else "It has no files."


def _important(paths: Sequence[str]) -> list[str]:
    """Return the paths with the fewest folders first."""
    return sorted(paths, key=lambda path: (path.count("/"), path))


# Media types


def _media_type(path: str, *, is_text: bool) -> str:
    # With "./" in front, a name like "data:text/html,x" is not taken for a URL.
    guessed, packed = _by_ending().guess_type(f"./{path}".lower())
    if packed:
        return _PACKED.get(packed, "application/octet-stream")
    return guessed or ("text/plain" if is_text else "application/octet-stream")


_PACKED = {"gzip": "application/gzip", "bzip2": "application/x-bzip2", "xz": "application/x-xz"}


@lru_cache
def _by_ending() -> MimeTypes:
    """Return Python's own table, the same on every machine, with the types of more endings."""
    table = MimeTypes()
    for ending, media_type in (
        (".md", "text/markdown"),
        (".markdown", "text/markdown"),
        (".yaml", "application/yaml"),
        (".yml", "application/yaml"),
        (".toml", "application/toml"),
        (".ts", "text/plain"),
    ):
        table.add_type(media_type, ending)
    return table
