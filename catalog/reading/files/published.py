"""Lookup of published versions of skills, and of their files."""

import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from mimetypes import MimeTypes
from pathlib import Path

from catalog.database.expressions import FOLDER_NAME, MAY_BE_PUBLISHED
from catalog.database.queries import Database, Row
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.model.naming import CURRENT
from catalog.model.paths import os_path
from catalog.reading import lookup
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
        # With "./" in front, a name like "data:text/html,x" is not taken for a URL.
        guessed, packed = _by_ending().guess_type(f"./{self.path}".lower())
        if packed:
            return _PACKED.get(packed, "application/octet-stream")
        return guessed or ("text/plain" if self.is_text else "application/octet-stream")


@dataclass(frozen=True)
class Package:
    """One published version of a skill; later publications do not change it."""

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
        """SKILL.md in any mixture of upper and lower case."""
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

    With by_id, its skill_id comes first. With a version it is that one, even of a removed skill,
    while its files are kept. Raises NotInCatalog, which suggests the closest skills.
    """
    statuses = ("active", "removed") if version else ("active",)
    skill = lookup.find_skill(db, skill_name, statuses=statuses, by_id=by_id)
    if skill["status"] == "removed":
        return kept(db, packages, skill, version)
    (current,) = db.query(_CURRENT, [skill["current_version_id"]])
    if version and not (skill["package_path"] is None and version == current["version"]):
        return kept(db, packages, skill, version)
    if skill["package_path"] is not None:
        return _published(db, packages, skill)
    if "!/" in skill["path"]:
        raise NotInCatalog(
            f"The skill {shown(skill['name'])} is in an archive and not yet "
            "published; try again in a moment."
        )
    return _package(db, skill, current, None)


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


def _published(db: Database, packages: Path, skill: Row) -> Package:
    """Follow `current` once; where it leads to no version of the catalog, the row has the package.

    That is so before the first publication, and on a copy whose links are newer than its catalog.
    """
    version = None
    with suppress(OSError):
        version = _at(db, skill, os.readlink(packages / skill["skill_id"] / CURRENT))
    version = version or _at(db, skill, f"../{skill['package_path']}")
    if not version:
        raise PackageDamaged(
            f"The link {CURRENT} of {shown(skill['name'])} points to no version in the catalog; "
            f"{CURE}."
        )
    return _package(db, skill, version, packages, in_skills=True)


def _at(db: Database, skill: Row, target: str) -> Row | None:
    """Return the version of a skill that a `current` link with a target leads to, if any.

    A renamed skill keeps its packages under the old skill_id; the new `current` points there.
    """
    own, _, version = _as_text(target).rpartition("/")
    values = {
        "own": own.removeprefix("../") or skill["skill_id"],
        "version": version,
        "skill": skill["id"],
        "skill_id": skill["skill_id"],
    }
    return db.row(_VERSION, values)


def kept(db: Database, packages: Path, skill: Row, version: str | None) -> Package:
    """Return a version of a skill whose files are kept, by default the newest; NotInCatalog."""
    version = version and _as_text(version)
    values = {"version": version, "skill": skill["id"], "skill_id": skill["skill_id"]}
    for row in db.rows(_OF_SKILL, values):
        return _package(db, skill, row, packages)
    raise NotInCatalog(
        f"Version {shown(version or '(any)')} of {shown(skill['name'])} does not exist or is no "
        "longer kept; `skilldrop versions` lists the others."
    )


_COLUMNS = "id AS version_id, version, digest, skill_id AS own FROM versions"
_CURRENT = f"SELECT {_COLUMNS} WHERE id = ?"
_VERSION = f"""
    SELECT {_COLUMNS}
    WHERE skill_id = :own AND version = :version AND (skill_id = :skill_id OR skill = :skill)
"""
_OF_SKILL = f"""
    SELECT {_COLUMNS} WHERE version = ifnull(:version, version)
        AND (skill_id = :skill_id OR skill = :skill)
        AND package_path IS NOT NULL AND {MAY_BE_PUBLISHED.format("versions")}
    ORDER BY skill_id = :skill_id DESC, id DESC LIMIT 1
"""


def _as_text(name: str) -> str:
    """Return a name of the system, which need not be UTF-8, as text for a query."""
    return name.encode(errors="replace").decode()


def _package(
    db: Database, skill: Row, version: Row, packages: Path | None, *, in_skills: bool = False
) -> Package:
    """Return a version, in the packages folder or, without that, in its root.

    in_skills says whether it may be read in the folder of published skills.
    """
    files = db.query(
        "SELECT path, kind, size, sha256, mode, is_text FROM files WHERE version = ? ORDER BY path",
        [version["version_id"]],
    )
    folder, body = db.execute(
        f"SELECT {FOLDER_NAME}, iif(s.current_version_id = ?,"
        " (SELECT body FROM searched_texts WHERE id = s.id), NULL) FROM skills AS s WHERE s.id = ?",
        [version["version_id"], skill["id"]],
    ).fetchone()
    return Package(
        skill["skill_id"],
        skill["name"],
        version["version"],
        version["digest"],
        tuple(PublishedFile(**file | {"is_text": bool(file["is_text"])}) for file in files),
        body,
        str(packages or skill["root"]),
        (version["own"], version["version"])
        if packages
        else tuple(os_path(skill["path"]).split("/")),
        packages is None,
        folder if in_skills else None,
    )


# Suggestions


def _suggest_files(package: Package, asked: str) -> str:
    paths = [file.path for file in package.files]
    folder = asked.strip("/") + "/"
    if inside := [path for path in paths if path.startswith(folder)]:
        return f"It is a directory with: {few(inside)}."
    last = asked.rstrip("/").rpartition("/")[2]
    same = [path for path in paths if path.rpartition("/")[2] == last]
    if near := same or closest(asked, paths):
        return f"The closest are: {few(near)}."
    important = sorted(paths, key=lambda path: (path.count("/"), path))
    return f"It has: {few(important)}." if paths else "It has no files."


# Media types

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
