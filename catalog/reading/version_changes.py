"""Files that differ between two versions of a skill, with their texts; reads only."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from catalog.database.sql import Row
from catalog.model.errors import NotInCatalog, PackageDamaged, PathRefused
from catalog.reading import browse, skill_files
from catalog.reading.browse import Catalog

MOST_BYTES = 1_000_000
"""Most bytes of a file whose text is read from a package."""

Texts = Callable[[int, str], str | None]
"""Text of a file of a version, given the version's id and the path; None if it is not kept."""


def changed_files(
    db: Catalog,
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
    old, new = (
        {file["path"]: file for file in browse.files(db, id_)} if id_ else {}
        for id_ in (before, version)
    )
    changed = [
        path
        for path in {**old, **new}
        if not only or path == only
        if _content(old.get(path)) != _content(new.get(path))
    ]
    for path in in_order(changed, old, new):
        for id_, files in ((before, old), (version, new)):
            if id_ and (file := files.get(path)):
                is_left_out = room <= 0 and not only
                text = None if is_left_out else _text(db, id_, file, packaged)
                room -= len(text or "")
                files[path] = file | {"text": text, "is_left_out": is_left_out}
    return (
        {path: old[path] for path in changed if path in old},
        {path: new[path] for path in changed if path in new},
    )


def in_order(paths: Sequence[str], old: Mapping[str, Row], new: Mapping[str, Row]) -> list[str]:
    """Return paths in the order in which a reader should check them: scripts, SKILL.md, others."""

    def rank(path: str) -> tuple[int, str]:
        rows = [files[path] for files in (old, new) if path in files]
        return (0 if any(map(is_script, rows)) else 1 if path.lower() == "skill.md" else 2), path

    return sorted(paths, key=rank)


def is_script(file: Row) -> bool:
    """Return whether a file can be run."""
    return bool(file["kind"] == "script" or file["mode"] == "755")


def texts_in_packages(
    db: Catalog, packages: Path, skill: Row, versions: Mapping[int, str]
) -> Texts:
    """Return the texts in the packages of an active skill; versions has their names."""

    def text(version: int, path: str) -> str | None:
        with suppress(NotInCatalog, PathRefused, PackageDamaged):
            file = skill_files.read_skill_file(
                db, packages, skill["skill_id"], path, version=versions[version]
            )
            return None if file.encoding == "base64" else file.text
        return None

    return text


def _text(db: Catalog, version: int, file: Row, packaged: Texts) -> str | None:
    if not file["is_text"]:
        return None
    text = browse.text(db, version, file["path"])
    if text is None and file["size"] <= MOST_BYTES:
        return packaged(version, file["path"])
    return text


def _content(file: Row | None) -> Any:
    return file and (file["sha256"], file["mode"])
