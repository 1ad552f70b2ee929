"""Keeper of the directories of skills: it makes them match the catalog, now and after a crash.

One is beside the catalog and has copies; the others belong to agents and have links to those, or
copies of their own. An entry is stored before it is made, and forgotten after it is removed. So a
link with a stored target, and a folder with a stored version, was made here; any other entry
belongs to somebody else.
"""

import errno
import logging
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from catalog.database.queries import Writer
from catalog.filesystem.operations import descended, named
from catalog.filesystem.operations import directory as opened_directory
from catalog.filesystem.ownership import OwnedFolder, refuse_owned
from catalog.model.errors import FolderNotOwned, NotInCatalog, NotPlaced
from catalog.model.setting import LinkedDirectory
from catalog.writing.folder_ownership import FolderOwnership
from catalog.writing.links import table
from catalog.writing.links.directory import Entries
from catalog.writing.links.table import DirectoryRow, LinkRow
from catalog.writing.packages.builder import Packaging
from catalog.writing.packages.inspection import damages, public
from catalog.writing.packages.staging import PackageFile

log = logging.getLogger("skilldrop")


class Kept(NamedTuple):
    """Result of a command on one directory, as it is published."""

    directory: str
    linked: int  # entries in it now
    taken: tuple[str, ...]  # names of skills that foreign entries have
    made: tuple[str, ...]
    removed: tuple[str, ...]


class LinkKeeper:
    """The directories of skills of one catalog."""

    def __init__(self, db: Writer, folders: FolderOwnership) -> None:
        self.packaging: Packaging | None = None  # whose packages are linked and copied
        self._db = db
        self._folders = folders
        self._unchecked: set[str] | None = None  # None: all directories
        self._foreign: set[str] = set()  # entries of others beside the catalog
        self._gone: dict[str, dict[str, LinkRow]] = {}  # entries to remove, by directory and name

    def configure(self, own: Path, configured: Sequence[LinkedDirectory]) -> None:
        """Store the directory beside the catalog and those of the settings."""
        table.configure(self._db, str(own), configured)
        self.check_all()

    @property
    def has_trouble(self) -> bool:
        """Whether the last update of a directory failed."""
        return bool(self._unchecked)

    def check_all(self) -> None:
        """Let the next update compare every entry of every directory."""
        self._unchecked = None

    def update(self, changed: Collection[str]) -> None:
        """Make the entries of the skill_ids that have changed since the last update.

        The entries of skills that left stay until `withdraw`. Raises NotPlaced for the directory
        beside the catalog, after the others; the troubles of all are stored, and those of others
        logged. A directory with trouble is compared as a whole the next time.
        """
        troubled: set[str] = set()
        failure: NotPlaced | None = None
        for directory in table.directories(self._db):
            path = directory.spec.path
            is_checked = self._unchecked is not None and path not in self._unchecked
            if is_checked and not changed:
                continue
            try:
                # Where skills share a room, a change of one may concern others.
                is_partial = is_checked and not directory.spec.fit
                self._update(directory, changed if is_partial else None)
            except NotPlaced as error:
                troubled.add(path)
                if directory.is_own:
                    failure = error
                elif str(error) != directory.trouble:
                    log.warning("%s", error)
        self._unchecked = troubled
        if failure:
            raise failure

    def withdraw(self) -> None:
        """Remove the entries of skills that left, the links to copies first.

        Call it after the indexes are published, so that none names them. Raises NotPlaced for the
        directory beside the catalog.
        """
        for directory in reversed(table.directories(self._db)):
            self._remove_gone(directory)

    def link(self, spec: LinkedDirectory) -> Kept:
        """Make links or copies in a directory, and keep them up to date from now on.

        Raises NotPlaced, and then remembers no new directory.
        """
        is_known = self.find(spec.path) is not None
        table.put(self._db, spec, "command")
        directory = self.find(spec.path)
        assert directory
        try:
            made = self._update(directory, None)
        except NotPlaced:
            if not is_known:
                table.forget(self._db, directory)
            raise
        removed = self._remove_gone(directory)
        rows = table.stored_links(self._db, directory).values()
        taken = tuple(row.name for row in rows if not row.is_linked)
        return Kept(spec.path, len(rows) - len(taken), taken, made, removed)

    def unlink(self, directory: DirectoryRow) -> Kept:
        """Remove our entries from a directory, and forget it. Raises NotPlaced."""
        directory = table.leave(self._db, directory)
        self._update(directory, None)
        return Kept(directory.spec.path, 0, (), (), self._remove_gone(directory))

    def find(self, path: str) -> DirectoryRow | None:
        """Return the stored directory with this path."""
        return next((row for row in table.directories(self._db) if row.spec.path == path), None)

    def taken(self) -> list[str]:
        """Return the names that others have taken in the directory beside the catalog."""
        return [name for (name,) in self._db.execute(table.TAKEN)]

    # Damage

    def mend(self, package_paths: Collection[str], *, deep: bool) -> int:
        """Replace the damaged copies of current versions; return the number of repaired ones.

        Compares as `inspection.damages` does. A directory that cannot be read is logged.
        """
        mended = 0
        for directory, rows in self._copies(set(public(self._db, package_paths))):
            try:
                with self._opened(directory) as entries:
                    for row in rows:
                        if not (damage := entries.damage(row, deep=deep)):
                            continue
                        self._put(directory, entries, [row], {row.name: row})
                        if not entries.damage(row):
                            place = f"{directory.spec.path}/{row.name}"
                            log.warning("%s: %s; it was made again from its version", place, damage)
                            mended += 1
            except (OSError, FolderNotOwned) as error:
                log.warning("%s", _sentence(error, directory))
        return mended

    @contextmanager
    def intact(self, package_path: str, files: Sequence[PackageFile]) -> Iterator[int | None]:
        """Yield an open folder that is an undamaged copy of a version; None if there is none."""
        for directory, rows in self._copies([package_path]):
            folder = Path(directory.spec.path)
            for row in rows:
                if not any(damages(folder, row.name, files, deep=True)):
                    with opened_directory(folder) as top, descended(top, [row.name]) as copy:
                        yield copy
                    return
        yield None

    def _copies(
        self, package_paths: Collection[str]
    ) -> Iterator[tuple[DirectoryRow, list[LinkRow]]]:
        """Yield the stored copies of versions by directory, those beside the catalog first."""
        skill_ids = {package_path.partition("/")[0] for package_path in package_paths}
        for directory in table.directories(self._db):
            if directory.spec.copy:
                rows = table.stored_links(self._db, directory, skill_ids).values()
                copies = [row for row in rows if row.is_linked and row.target in package_paths]
                if copies:
                    yield directory, copies

    # One directory

    def _update(
        self, directory: DirectoryRow, skill_ids: Collection[str] | None
    ) -> tuple[str, ...]:
        """Make entries, of all skills or of some; return the names of the new ones.

        A sentence about trouble is stored. Raises NotPlaced.
        """
        try:
            made = self._update_entries(directory, skill_ids)
        except (OSError, NotInCatalog, FolderNotOwned) as error:
            if directory.is_leaving and isinstance(error, FileNotFoundError):
                table.forget(self._db, directory)  # with the directory, its entries are gone
                return ()
            raise self._not_placed(directory, error) from error
        table.set_trouble(self._db, directory, None)
        return made

    def _not_placed(self, directory: DirectoryRow, error: Exception) -> NotPlaced:
        table.set_trouble(self._db, directory, trouble := _sentence(error, directory))
        return NotPlaced(trouble)

    @contextmanager
    def _opened(self, directory: DirectoryRow) -> Iterator[Entries]:
        assert self.packaging
        path, packages = Path(directory.spec.path), self.packaging.folder.path
        with named(path):
            if path.is_symlink() and directory.is_own:
                raise FolderNotOwned(
                    f"{path} is a link, so no skill is placed there. Remove it; skilldrop then "
                    "makes a folder."
                )
            if not directory.is_own and not directory.is_leaving:
                _create(path)
            with (
                self._folders.opened(OwnedFolder(path, "skills"))
                if directory.is_own
                else opened_directory(path)
            ) as dir_fd:
                if not directory.is_own:
                    refuse_owned(dir_fd, path)
                yield Entries(self._db, path, dir_fd, packages, self.packaging.at_work)

    def _update_entries(
        self, directory: DirectoryRow, skill_ids: Collection[str] | None
    ) -> tuple[str, ...]:
        path = directory.spec.path
        stored = table.stored_links(self._db, directory, skill_ids)
        wanted = {row.name: row for row in table.wanted_entries(self._db, directory, skill_ids)}
        is_in_place = self.packaging and self.packaging.in_place
        if is_in_place and not (stored or wanted or Path(path).exists()):
            return ()
        with self._opened(directory) as entries:
            if skill_ids is None:
                stored |= self._recognised(directory, entries, stored, wanted)
            rows = [_expected(stored.get(name), row, entries) for name, row in wanted.items()]
            changed = [row for row in rows if row != stored.get(row.name)]
            table.store(self._db, directory, changed)
            todo = [
                row
                for row in rows
                if row != stored.get(row.name)
                or row.former_target is not None
                or (row.is_linked and not self._is_right(entries, row))
            ]
            done = self._put(directory, entries, todo, stored)
            if skill_ids is None and directory.is_own:
                self._log_foreign(path, entries.names() - stored.keys() - wanted.keys())
        gone = self._gone.get(path, {}) | stored
        self._gone[path] = {name: row for name, row in gone.items() if name not in wanted}
        return tuple(row.name for row in done if row.is_linked and row != stored.get(row.name))

    def _log_foreign(self, path: str, names: Collection[str]) -> None:
        """Log each entry of others once."""
        for name in sorted(set(names) - self._foreign):
            log.warning("%s/%s was not made by skilldrop and is left alone", path, name)
        self._foreign = set(names)

    def _recognised(
        self,
        directory: DirectoryRow,
        entries: Entries,
        stored: Mapping[str, LinkRow],
        wanted: Mapping[str, LinkRow],
    ) -> dict[str, LinkRow]:
        """Remove leftovers of a crash; store the entries of a lost catalog, and return them.

        In directories of others, `_expected` finds those of wanted names.
        """
        found: dict[str, LinkRow] = {}
        for name in entries.sweep(stored.keys() | wanted.keys()):
            known = stored.get(name)
            is_claimed = known and known.is_linked and entries.is_ours(known)
            if is_claimed or not directory.is_own:
                continue
            if target := entries.recognised(name, with_copies=True):
                skill_id = wanted[name].skill_id if name in wanted else name
                found[name] = LinkRow(name, skill_id, target, is_linked=True)
        table.store(self._db, directory, found.values())
        return found

    def _is_right(self, entries: Entries, row: LinkRow) -> bool:
        """Return whether an entry is as stored; `mend` compares the files of a copy."""
        if row.is_copy and row.skill_md is None:
            return entries.is_folder(row.name)
        return entries.fault(row) is None

    def _put(
        self,
        directory: DirectoryRow,
        entries: Entries,
        rows: Sequence[LinkRow],
        stored: Mapping[str, LinkRow],
    ) -> list[LinkRow]:
        """Make entries unless their names are taken; store their new rows, and return them."""
        results = entries.put([row for row in rows if row.is_linked])
        done: list[LinkRow] = []
        for row in rows:
            place = f"{directory.spec.path}/{row.name}"
            before, is_put = stored.get(row.name), results.get(row.name, False)
            if is_put is None:
                log.warning(
                    "%s is not updated: the files of version %s are damaged", place, row.target
                )
                # Let its package be the next one that is verified.
                self._db.execute(
                    "UPDATE versions SET verified_at = NULL WHERE package_path = ?", [row.target]
                )
                done.append(before or row._replace(is_linked=False, former_target=None))
                continue
            if not is_put and (before is None or before.is_linked):
                log.warning(
                    "%s is unknown to this catalog, so it stays, and the skill is not placed there",
                    place,
                )
            done.append(row._replace(is_linked=is_put, former_target=None))
        changed = [new for new, row in zip(done, rows, strict=True) if new != row]
        table.store(self._db, directory, changed)
        return done

    def _remove_gone(self, directory: DirectoryRow) -> tuple[str, ...]:
        """Remove the entries of skills that left; return the names of the removed ones."""
        gone = self._gone.get(directory.spec.path, {})
        removed: list[str] = []
        if gone:
            try:
                with self._opened(directory) as entries:
                    removed = [row.name for row in gone.values() if entries.remove(row)]
            except FileNotFoundError:
                pass  # with the directory, its entries are gone
            except OSError as error:
                failure = self._not_placed(directory, error)
                if directory.is_own:
                    raise failure from error
                return ()
            table.store(self._db, directory, [], list(gone))
        self._gone.pop(directory.spec.path, None)
        if directory.is_leaving:
            table.forget(self._db, directory)
        return tuple(removed)


def _create(path: Path) -> None:
    """Create a directory of an agent.

    Missing parents are created below the home only: elsewhere, a disk may not be mounted.
    """
    home = Path(os.path.realpath(os.path.expanduser("~")))
    is_below_home = home in path.parents and home != Path("/")
    if not is_below_home and not path.parent.is_dir():
        raise OSError(errno.ENOENT, f"{path.parent} does not exist; make it first", str(path))
    with suppress(FileExistsError):
        path.mkdir(0o755, parents=is_below_home)


def _expected(stored: LinkRow | None, wanted: LinkRow, entries: Entries) -> LinkRow:
    """Return the row to store before an entry is made; a name of others is not claimed."""
    if stored and stored.is_linked:
        if stored.target == wanted.target:
            return stored._replace(skill_id=wanted.skill_id)
        return wanted._replace(former_target=stored.target, is_linked=True)
    if target := entries.recognised(wanted.name, with_copies=False):  # from after a backup
        return wanted._replace(former_target=target, is_linked=True)
    if entries.exists(wanted.name):  # our copies are read-only
        is_ours = wanted.is_copy and entries.damage(wanted) is None
        return wanted._replace(is_linked=is_ours)
    return wanted._replace(is_linked=True, former_target="")


def _sentence(error: Exception, directory: DirectoryRow) -> str:
    path = directory.spec.path
    kind = "skills" if directory.spec.copy else "links"
    if not isinstance(error, OSError):
        return f"The {kind} in {path} stay as they are. {error}"
    where = f"{error.filename}: " if error.filename not in (None, path) else ""
    return f"The {kind} in {path} cannot be updated: {where}{error.strerror or error}."
