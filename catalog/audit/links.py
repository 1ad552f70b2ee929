"""Differences between the catalog and the directories of skills; reads only."""

from collections.abc import Iterator
from pathlib import Path

from catalog.audit.difference import Difference
from catalog.database.queries import Database
from catalog.filesystem.by_descriptor import directory as opened_directory
from catalog.model.errors import NotInCatalog
from catalog.writing.links.directory import Entries
from catalog.writing.links.targets import Packages, wanted_entries
from catalog.writing.package_jobs import package_files
from catalog.writing.packages.inspection import damages
from catalog.writing.tables import links as tables
from catalog.writing.tables.links import DirectoryRow, LinkRow


def of_links(db: Database, packages: Packages) -> Iterator[Difference]:
    """Yield the links and copies that are missing, wrong or superfluous.

    Also directories that cannot be read. In directories of others, their entries are no
    differences, even under the name of a skill. The files of copies are hashed.
    """
    for directory in tables.directories(db):
        path = directory.spec.path
        try:
            wanted = {row.name: row for row in wanted_entries(db, directory)}
            if packages.in_place and not wanted and not Path(path).exists():
                continue
            with opened_directory(path) as dir_fd:
                yield from _of_directory(db, directory, Entries(dir_fd, packages.folder), wanted)
        except (OSError, NotInCatalog) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            yield Difference("link", path, "", f"its skills cannot be compared: {reason}")


def _of_directory(
    db: Database, directory: DirectoryRow, entries: Entries, wanted: dict[str, LinkRow]
) -> Iterator[Difference]:
    path, is_own = directory.spec.path, directory.origin == "data"
    stored = tables.stored_links(db, directory)
    for name, row in wanted.items():
        known = stored.get(name)
        if known and not known.is_linked and entries.exists(name):
            if is_own:
                yield Difference(
                    "link", path, name, "skilldrop did not make it, so the skill is not there"
                )
        elif message := _wrong(db, directory, entries, row):
            yield Difference("link", path, name, message)
    left = {name for name in entries.names() if entries.is_left(name)}
    if is_own:
        superfluous = entries.names().difference(wanted)
    else:
        superfluous = left | {
            name
            for name, row in stored.items()
            if name not in wanted and entries.exists(name) and entries.is_ours(row)
        }
    for name in sorted(superfluous):
        yield Difference("link", path, name, "no selected skill has this name")


def _wrong(db: Database, directory: DirectoryRow, entries: Entries, row: LinkRow) -> str | None:
    """Return how an entry differs from the one that should be there."""
    if not directory.spec.is_copy:
        is_right = entries.target(row.name) == row.target
        return None if is_right else f"it does not lead to {row.target}"
    version = tables.version_of(db, row.target)
    files = package_files(db, version) if version is not None else []
    damage = next(damages(Path(directory.spec.path), row.name, files, deep=True), None)
    return f"it is not version {row.target.rpartition('/')[2]}: {damage}" if damage else None
