"""Skills of a copy: those that are selected, its lock file, and its form as one archive."""

import gzip
import io
import json
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any, NamedTuple

from catalog.database.queries import Database
from catalog.filesystem.operations import replaced
from catalog.model.errors import NotInCatalog, NotPossible, PackageDamaged
from catalog.model.paths import os_path
from catalog.model.setting import EVERY, Selection
from catalog.reading.files import bundle, skill_files
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


ENDINGS = (".zip", ".tar.gz", ".tgz")


def write_archive(
    path: Path, sources: Sequence[CopiedSkill], progress: Callable[[int], None] = lambda _: None
) -> None:
    """Write the skills and their lock file as an archive, whole or not at all.

    The format follows from the ending. Executable bits are kept; times and owners are not stored.
    A `.tar.gz` also depends on the version of zlib. Raises NotPossible, PackageDamaged and OSError.
    """
    if not path.name.lower().endswith(ENDINGS):
        raise NotPossible(f"{path} must end with {', '.join(ENDINGS)}.")
    lock = render_lock(locked(*source) for source in sources)
    with replaced(path) as file, _opened(path, file) as add:
        add(LOCK_FILE, 0o644, len(lock), io.BytesIO(lock))
        for number, (folder, package) in enumerate(sorted(sources), start=1):
            for entry in package.files:
                with skill_files.opened(package, entry) as content:
                    name = f"{folder}/{os_path(name_of(entry))}"
                    add(name, int(entry.mode, 8), entry.size, content)
            progress(number)


@contextmanager
def _opened(path: Path, file: IO[bytes]) -> Iterator[Callable[[str, int, int, IO[bytes]], None]]:
    """Yield a function that adds a file by name, mode, size in bytes and content."""
    if path.name.lower().endswith(".zip"):
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            yield partial(bundle.add, archive)
        return
    with (
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        yield partial(_add, tar)


def _add(tar: tarfile.TarFile, name: str, mode: int, size: int, content: IO[bytes]) -> None:
    member = tarfile.TarInfo(name)
    member.mode, member.size = mode, size
    tar.addfile(member, content)
