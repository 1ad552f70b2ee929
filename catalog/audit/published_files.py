"""Differences between the catalog and the published files: packages, links and indexes."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from catalog.audit.verdicts import Difference
from catalog.database.queries import Database
from catalog.filesystem.operations import directory as opened_directory
from catalog.model.errors import NotInCatalog
from catalog.model.naming import CURRENT
from catalog.prompt_index import query
from catalog.prompt_index.builder import report
from catalog.writing.links import table
from catalog.writing.links.directory import Entries
from catalog.writing.links.table import DirectoryRow, LinkRow
from catalog.writing.packages.builder import Packaging
from catalog.writing.packages.inspection import (
    damages,
    list_packages,
    package_files,
    packaged,
    strays,
)


def of_packages(db: Database, packaging: Packaging) -> Iterator[Difference]:
    """Yield the packages and the `current` that are missing, damaged or superfluous.

    The packages of a lost catalog stay until all roots were read, and are no differences.
    """
    folder = packaging.folder.path
    listing = list_packages(folder)
    for root, path, is_active, recorded, package_path in db.execute(_SKILLS):
        should_have = is_active and packaging.packages(path)
        expected = package_path if should_have else None
        if should_have and not package_path:
            yield Difference("package", root, path, "it is active but has no package")
        elif recorded != expected:
            message = f"its package should be {expected or 'none'}, but the catalog records "
            yield Difference("package", root, path, message + (recorded or "none"))
        elif expected:
            skill_id, _, version = expected.partition("/")
            if listing.current.get(skill_id) != version:
                message = f"it does not point to {version}"
                yield Difference("package", str(folder), f"{skill_id}/{CURRENT}", message)
    for package_path, version in packaged(db).items():
        files = package_files(db, version)
        for damage in damages(folder, package_path, files, deep=True):
            yield Difference("package", str(folder), package_path, str(damage), package_path)
    if not db.execute("SELECT 1 FROM recoveries WHERE is_under_way").fetchone():
        for path, message in strays(db, listing):
            yield Difference("package", str(folder), path, message)
    for path in listing.foreign:
        message = "skilldrop did not create it and leaves it alone; move it away"
        yield Difference("package", str(folder), path, message)


_SKILLS = """
    SELECT s.root, s.path, s.status = 'active', s.package_path, v.package_path
    FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id
    WHERE s.status = 'active' OR s.package_path IS NOT NULL
"""


def of_links(db: Database, packaging: Packaging) -> Iterator[Difference]:
    """Yield the links and copies that are missing, wrong or superfluous.

    Also directories that cannot be read. In directories of others, their entries are no
    differences, even under the name of a skill. The files of copies are hashed.
    """
    for directory in table.directories(db):
        path = directory.spec.path
        try:
            wanted = {row.name: row for row in table.wanted_entries(db, directory)}
            if packaging.in_place and not wanted and not Path(path).exists():
                continue
            with opened_directory(path) as dir_fd:
                entries = Entries(db, Path(path), dir_fd, packaging.folder.path)
                for name, message in _of_directory(directory, entries, wanted):
                    yield Difference("link", path, name, message)
        except (OSError, NotInCatalog) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            yield Difference("link", path, "", f"its skills cannot be compared: {reason}")


def _of_directory(
    directory: DirectoryRow, entries: Entries, wanted: Mapping[str, LinkRow]
) -> Iterator[tuple[str, str]]:
    """Yield the name of each wrong entry, with a message."""
    stored = table.stored_links(entries.db, directory)
    for name, row in wanted.items():
        known = stored.get(name)
        if known and not known.is_linked and entries.exists(name):
            if directory.is_own:
                yield name, "skilldrop did not make it, so the skill is not there"
        elif message := entries.fault(row):
            yield name, message
    if directory.is_own:
        superfluous = entries.names().difference(wanted)
    else:
        superfluous = entries.left(stored.keys() | wanted.keys()) | {
            name
            for name, row in stored.items()
            if name not in wanted and entries.exists(name) and entries.is_ours(row)
        }
    for name in sorted(superfluous):
        yield name, "no selected skill has this name"


def of_indexes(db: Database, folder: Path) -> Iterator[Difference]:
    """Yield the files in the index folder that differ from the indexes of the catalog."""
    for (name,) in db.execute("SELECT name FROM indexes ORDER BY position").fetchall():
        spec = query.index_spec(db, name)
        index = query.build_index(db, spec)
        if _read(folder / spec.file_name) != index.text.encode():
            yield Difference("index", str(folder), spec.file_name, "the file is out of date")
        report_name = f"{spec.name}.meta.json"
        expected = json.loads(json.dumps(report(spec, index)))
        published = _json(folder / report_name)
        if {key: value for key, value in published.items() if key in expected} != expected:
            yield Difference("index", str(folder), report_name, "the report is out of date")
        recorded = db.execute(
            "SELECT b.sha256 FROM indexes AS i JOIN index_builds AS b ON b.id = i.last_build_id"
            " WHERE i.name = ?",
            [name],
        ).fetchone()
        if recorded != (index.sha256,):
            yield Difference(
                "index",
                str(folder),
                spec.file_name,
                "the catalog does not record its publication",
            )


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None


def _json(file: Path) -> dict[str, object]:
    try:
        value = json.loads(_read(file) or b"{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
