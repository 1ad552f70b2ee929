"""Differences between the catalog and the directories of links; reads only."""

import os
from collections.abc import Iterator

from catalog.audit.difference import Difference
from catalog.database.queries import Database
from catalog.filesystem.by_descriptor import directory as opened_directory
from catalog.model.errors import NotInCatalog
from catalog.writing.links.directory import NEXT, Links
from catalog.writing.links.targets import Packages, wanted_links
from catalog.writing.tables import links as tables
from catalog.writing.tables.links import DirectoryRow, LinkRow


def of_links(db: Database, packages: Packages) -> Iterator[Difference]:
    """Yield the links that are missing, wrong or superfluous, and unreadable directories.

    The entries of others in their directories are no differences, even under the name of a skill.
    """
    for directory in tables.directories(db):
        path = directory.spec.path
        try:
            wanted = {row.name: row for row in wanted_links(db, directory, packages)}
            with opened_directory(path) as dir_fd:
                links = Links(dir_fd, owns_links=directory.origin == "data")
                yield from _of_directory(db, directory, links, wanted)
        except (OSError, NotInCatalog) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            yield Difference("link", path, "", f"its links cannot be compared: {reason}")


def _of_directory(
    db: Database, directory: DirectoryRow, links: Links, wanted: dict[str, LinkRow]
) -> Iterator[Difference]:
    path = directory.spec.path
    stored = tables.stored_links(db, directory)
    for name, row in wanted.items():
        is_taken = name in stored and not stored[name].is_linked and not links.owns_links
        if links.target(name) != row.target and not (is_taken and links.exists(name)):
            yield Difference("link", path, name, f"it does not lead to {row.target}")
    if links.owns_links:
        superfluous = set(os.listdir(links.dir_fd)).difference(wanted, links.own_files)
    else:
        superfluous = {
            name for name, row in stored.items() if links.target(name) in row.targets
        }.difference(wanted)
        superfluous |= {NEXT} if links.target(NEXT) else set()
    for name in sorted(superfluous):
        yield Difference("link", path, name, "no selected skill has this name")
