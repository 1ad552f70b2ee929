"""Keeper of the directories of links: it makes them match the catalog, now and after a crash.

A link is stored before it is made, and forgotten after it is removed. So a link on the disk with
a stored target was made here, and any other entry belongs to somebody else.
"""

import logging
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from catalog.database.queries import Database
from catalog.database.sql import Transaction
from catalog.filesystem.by_descriptor import named
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.errors import NotInCatalog
from catalog.model.selection import LinkedDirectory
from catalog.model.values import Json
from catalog.writing.folder_ownership import FolderOwnership
from catalog.writing.links.directory import Links as OpenLinks
from catalog.writing.links.directory import foreign_directory
from catalog.writing.links.targets import Packages, wanted_links
from catalog.writing.tables import links as tables
from catalog.writing.tables.links import DirectoryRow, LinkRow, Links

log = logging.getLogger("skilldrop")


@dataclass(frozen=True, slots=True)
class Kept:
    """Result of updating one directory."""

    path: str
    linked: int = 0  # links in it now; only `link` counts them
    taken: tuple[str, ...] = ()  # names of skills that foreign entries have; only from `link`
    made: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    trouble: str | None = None

    def as_json(self) -> dict[str, Json]:
        """Return the published fields."""
        return {
            "directory": self.path,
            "linked": self.linked,
            "taken": self.taken,
            "made": self.made,
            "removed": self.removed,
        }


class LinkKeeper:
    """The directories of links of one catalog."""

    def __init__(self, db: Database, transaction: Transaction, folders: FolderOwnership) -> None:
        """Take the catalog, its transactions and its folders."""
        self._db = db
        self._folders = folders
        self._rows = Links(db, transaction)
        self._unchecked: set[str] | None = None  # None: all directories

    def configure(self, own: Path, configured: Sequence[LinkedDirectory]) -> None:
        """Store the directory beside the catalog and those of the settings."""
        self._rows.configure(str(own), configured)
        self.check_all()

    def trust(self) -> None:
        """Let the next update compare no directory: a seal proves that none has changed."""
        self._unchecked = set()

    @property
    def is_checked(self) -> bool:
        """Whether all entries of all directories were compared, and could be made right."""
        return self._unchecked == set()

    def check_all(self) -> None:
        """Let the next update compare every entry of every directory."""
        self._unchecked = None

    def update(self, packages: Packages, changed: Collection[str]) -> None:
        """Update the directories for the skill_ids that have changed since the last update.

        Raises OSError and FolderNotOwned for the directory beside the catalog; the trouble of any
        other is stored and logged, and that directory is compared as a whole the next time.
        """
        troubled: set[str] = set()
        for directory in tables.directories(self._db):
            is_checked = self._unchecked is not None and directory.spec.path not in self._unchecked
            if is_checked and not changed:
                continue
            result = self._update(directory, packages, changed if is_checked else None)
            if result.trouble:
                troubled.add(result.path)
            if result.trouble and result.trouble != directory.trouble:
                log.warning("%s", result.trouble)
        self._unchecked = troubled

    def link(self, spec: LinkedDirectory, packages: Packages) -> Kept:
        """Make links in a directory, and keep them up to date from now on.

        Where that fails, nothing is remembered, and the result has the trouble.
        """
        known = self.find(spec.path)
        self._rows.add(spec)
        directory = self.find(spec.path)
        assert directory
        result = self._update(directory, packages, None)
        if result.trouble and known is None:
            self._rows.forget(directory)
        linked, taken = tables.counts(self._db, directory)
        return replace(result, linked=linked, taken=taken)

    def unlink(self, directory: DirectoryRow, packages: Packages) -> Kept:
        """Remove the links from a directory, and forget it once this is done."""
        self._rows.leave(directory.spec.path)
        return self._update(directory._replace(is_leaving=True), packages, None)

    def find(self, path: str) -> DirectoryRow | None:
        """Return the stored directory with this path."""
        rows = tables.directories(self._db)
        return next((row for row in rows if row.spec.path == path), None)

    # One directory

    def _update(
        self, directory: DirectoryRow, packages: Packages, skill_ids: Collection[str] | None
    ) -> Kept:
        try:
            with self._opened(directory) as links:
                result = self._update_links(directory, links, packages, skill_ids)
            trouble = None
        except (OSError, NotInCatalog) as error:
            if directory.origin == "data":
                raise
            trouble = _sentence(error, directory)
            result = Kept(directory.spec.path, trouble=trouble)
            if directory.is_leaving and isinstance(error, FileNotFoundError):
                trouble = None  # with the directory, its links are gone
                result = Kept(directory.spec.path)
        if directory.is_leaving and not trouble:
            self._rows.forget(directory)
            return result
        self._rows.set_trouble(directory, trouble)
        return result

    @contextmanager
    def _opened(self, directory: DirectoryRow) -> Iterator[OpenLinks]:
        path = directory.spec.path
        with named(path):
            if directory.origin == "data":
                with self._folders.opened(OwnedFolder(Path(path), "skills")) as dir_fd:
                    yield OpenLinks(dir_fd, owns_links=True)
            else:
                with foreign_directory(path, must_exist=directory.is_leaving) as dir_fd:
                    yield OpenLinks(dir_fd, owns_links=False)

    def _update_links(
        self,
        directory: DirectoryRow,
        links: OpenLinks,
        packages: Packages,
        skill_ids: Collection[str] | None,
    ) -> Kept:
        stored = tables.stored_links(self._db, directory, skill_ids)
        names: set[str] = set()
        rows: dict[str, LinkRow] = {}  # that are not stored like this
        done: dict[str, LinkRow] = {}  # and those whose link cannot be made
        for wanted in wanted_links(self._db, directory, packages, skill_ids):
            names.add(wanted.name)
            row = _expected(stored.get(wanted.name), wanted, links, packages)
            if row != stored.get(row.name):
                rows[row.name] = row
            elif (made := self._made(directory, links, row, row)) != row:
                done[row.name] = made
        self._rows.begin(directory, rows.values())
        for name, row in rows.items():
            done[name] = self._made(directory, links, row, stored.get(name))
        gone = [row for name, row in stored.items() if name not in names]
        removed = [row.name for row in gone if links.remove(row.name, row.targets)]
        if skill_ids is None:
            links.sweep(names)
        changed = [row for name, row in done.items() if row != rows.get(name)]
        self._rows.finish(directory, changed, [row.name for row in gone])
        made_now = [name for name, row in done.items() if row.is_linked and row != stored.get(name)]
        return Kept(directory.spec.path, made=tuple(made_now), removed=tuple(removed))

    def _made(
        self, directory: DirectoryRow, links: OpenLinks, row: LinkRow, stored: LinkRow | None
    ) -> LinkRow:
        """Make a link unless its name is taken; return its row as it is then."""
        with named(f"{directory.spec.path}/{row.name}"):
            is_linked = row.is_linked and links.put(row.name, row.target, row.targets)
        if not is_linked and (stored is None or stored.is_linked):
            log.warning(
                "%s/%s was not made by skilldrop, so it stays, and the skill is not linked there",
                directory.spec.path,
                row.name,
            )
        return row._replace(is_linked=is_linked, former_target=None)


def _expected(
    stored: LinkRow | None, wanted: LinkRow, links: OpenLinks, packages: Packages
) -> LinkRow:
    """Return the row to store before a link is made.

    An entry that nobody recorded belongs to somebody else, unless it leads into our packages: it
    was made before the catalog was lost.
    """
    if stored and stored.is_linked:
        if stored.target == wanted.target:
            return stored._replace(skill_id=wanted.skill_id)
        return wanted._replace(former_target=stored.target, is_linked=True)
    is_ours = wanted.target.startswith(f"{packages.folder}/")
    ours = [wanted.target] if is_ours else []
    return wanted._replace(is_linked=links.is_free(wanted.name, ours))


def _sentence(error: Exception, directory: DirectoryRow) -> str:
    path = directory.spec.path
    if not isinstance(error, OSError):
        return f"The links in {path} stay as they are. {error}"
    where = str(error.filename or path)
    return f"The links in {path} cannot be updated: {where}: {error.strerror or error}."
