"""Keeper of the directories of skills: it makes them match the catalog, now and after a crash.

One is beside the catalog and has copies; the others belong to agents and have links to those, or
copies of their own. An entry is stored before it is made, and forgotten after it is removed. So a
link with a stored target, and a folder with a stored version, was made here; any other entry
belongs to somebody else.
"""

import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from catalog.database.writer import Writer
from catalog.filesystem.by_descriptor import descended, named
from catalog.filesystem.by_descriptor import directory as opened_directory
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.errors import FolderNotOwned, NotInCatalog, NotPlaced
from catalog.model.selection import LinkedDirectory
from catalog.model.values import Json
from catalog.writing.folder_ownership import FolderOwnership
from catalog.writing.links import table as tables
from catalog.writing.links.directory import Entries, foreign_directory
from catalog.writing.links.table import DirectoryRow, LinkRow, Links, Packages, wanted_entries
from catalog.writing.packages.inspection import damages, package_files
from catalog.writing.packages.staging import PackageFile

log = logging.getLogger("skilldrop")


@dataclass(frozen=True, slots=True)
class Kept:
    """Result of updating one directory."""

    path: str
    linked: int = 0  # entries in it now; only `link` counts them
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
    """The directories of skills of one catalog."""

    def __init__(self, db: Writer, folders: FolderOwnership) -> None:
        """Take the catalog and its folders."""
        self._db = db
        self._folders = folders
        self._rows = Links(db)
        self._unchecked: set[str] | None = None  # None: all directories
        self._compares_files = True
        self._foreign: set[str] = set()  # entries of others beside the catalog
        self._gone: dict[str, dict[str, LinkRow]] = {}  # entries to remove, by directory and name

    def configure(self, own: Path, configured: Sequence[LinkedDirectory]) -> None:
        """Store the directory beside the catalog and those of the settings."""
        self._rows.configure(str(own), configured)
        self.check_all()
        self._compares_files = True

    def check_all(self) -> None:
        """Let the next update compare every entry of every directory."""
        self._unchecked = None

    def recognise(self, packages: Packages) -> None:
        """Store the copies beside the catalog that a lost catalog made; see `_recognised`.

        Call it before packages are removed, by which they are recognised.
        """
        for directory in tables.directories(self._db):
            if directory.origin == "data" and Path(directory.spec.path).is_dir():
                with (
                    suppress(OSError, FolderNotOwned),  # the next update reports it
                    self._opened(directory, packages) as entries,
                ):
                    stored = tables.stored_links(self._db, directory)
                    self._recognised(directory, entries, stored, {})

    def update(self, packages: Packages, changed: Collection[str]) -> None:
        """Make the entries of the skill_ids that have changed since the last update.

        The entries of skills that left stay until `withdraw`. Raises NotPlaced and FolderNotOwned
        for the directory beside the catalog, after the others; their troubles are stored and
        logged. A directory with trouble is compared as a whole the next time.
        """
        troubled: set[str] = set()
        failure: Exception | None = None
        for directory in tables.directories(self._db):
            is_checked = self._unchecked is not None and directory.spec.path not in self._unchecked
            if is_checked and not changed:
                continue
            try:
                result = self._update(directory, packages, changed if is_checked else None)
            except (NotPlaced, FolderNotOwned) as error:
                failure = error
                troubled.add(directory.spec.path)
                continue
            if result.trouble:
                troubled.add(result.path)
            if result.trouble and result.trouble != directory.trouble:
                log.warning("%s", result.trouble)
        self._unchecked = troubled
        if failure:
            raise failure
        self._compares_files = False

    def withdraw(self, packages: Packages) -> None:
        """Remove the entries of skills that left, the links to copies first.

        Call it after the indexes are published, so that none names them. Raises NotPlaced for the
        directory beside the catalog.
        """
        for directory in reversed(tables.directories(self._db)):
            self._remove_gone(directory, packages)

    def link(self, spec: LinkedDirectory, packages: Packages) -> Kept:
        """Make links or copies in a directory, and keep them up to date from now on.

        Where that fails, nothing is remembered, and the result has the trouble.
        """
        known = self.find(spec.path)
        self._rows.add(spec)
        directory = self.find(spec.path)
        assert directory
        result = self._update(directory, packages, None)
        if result.trouble and known is None:
            self._rows.forget(directory)
        removed = self._remove_gone(directory, packages)
        linked, taken = tables.counts(self._db, directory)
        return replace(result, linked=linked, taken=taken, removed=removed)

    def unlink(self, directory: DirectoryRow, packages: Packages) -> Kept:
        """Remove our entries from a directory, and forget it once this is done."""
        self._rows.leave(directory.spec.path)
        leaving = directory._replace(is_leaving=True)
        result = self._update(leaving, packages, None)
        if result.trouble or self.find(directory.spec.path) is None:
            return result
        return replace(result, removed=self._remove_gone(leaving, packages))

    def find(self, path: str) -> DirectoryRow | None:
        """Return the stored directory with this path."""
        rows = tables.directories(self._db)
        return next((row for row in rows if row.spec.path == path), None)

    def taken(self) -> tuple[str, tuple[str, ...]]:
        """Return the directory beside the catalog, and the names that others have taken there."""
        for directory in tables.directories(self._db):
            if directory.origin == "data":
                return directory.spec.path, tables.counts(self._db, directory)[1]
        return "", ()

    # Damage

    def mend(
        self, packages: Packages, verified: Mapping[str, Sequence[PackageFile]], *, deep: bool
    ) -> int:
        """Make the damaged copies of versions again, given by package_path; return their number.

        Compares as `inspection.damages` does.
        """
        mended = 0
        for directory, row in self._copies(verified):
            found = damages(Path(directory.spec.path), row.name, verified[row.target], deep=deep)
            if (damage := next(found, None)) and self._put_again(directory, row, packages):
                log.warning(
                    "%s/%s: %s; it was made again from its version",
                    directory.spec.path,
                    row.name,
                    damage,
                )
                mended += 1
        return mended

    def _put_again(self, directory: DirectoryRow, row: LinkRow, packages: Packages) -> bool:
        """Make a damaged copy again; return whether it has the files of its version then."""
        try:
            with self._opened(directory, packages) as entries:
                self._put(directory, entries, [row], {row.name: row})
        except (OSError, FolderNotOwned):  # the next update reports it
            return False
        return not any(damages(Path(directory.spec.path), row.name, self._files_of(row.target)))

    @contextmanager
    def intact(self, package_path: str, files: Sequence[PackageFile]) -> Iterator[int | None]:
        """Yield an open folder that is an undamaged copy of a version; None if there is none."""
        for directory, row in self._copies([package_path]):
            folder = Path(directory.spec.path)
            if not any(damages(folder, row.name, files, deep=True)):
                with opened_directory(folder) as top, descended(top, [row.name]) as copy:
                    yield copy
                return
        yield None

    def _copies(self, package_paths: Collection[str]) -> Iterator[tuple[DirectoryRow, LinkRow]]:
        """Yield the stored copies of versions, those beside the catalog first."""
        skill_ids = {package_path.partition("/")[0] for package_path in package_paths}
        for directory in tables.directories(self._db):
            if directory.spec.copy:
                for row in tables.stored_links(self._db, directory, skill_ids).values():
                    if row.is_linked and row.target in package_paths:
                        yield directory, row

    # One directory

    def _update(
        self, directory: DirectoryRow, packages: Packages, skill_ids: Collection[str] | None
    ) -> Kept:
        try:
            trouble, result = None, self._update_entries(directory, packages, skill_ids)
        except (OSError, NotInCatalog) as error:
            if directory.is_leaving and isinstance(error, FileNotFoundError):
                self._rows.forget(directory)  # with the directory, its entries are gone
                return Kept(directory.spec.path)
            trouble = _sentence(error, directory)
            result = Kept(directory.spec.path, trouble=trouble)
        except FolderNotOwned as error:
            self._rows.set_trouble(directory, str(error))
            raise
        self._rows.set_trouble(directory, trouble)
        if trouble and directory.origin == "data":
            raise NotPlaced(trouble)
        return result

    @contextmanager
    def _opened(self, directory: DirectoryRow, packages: Packages) -> Iterator[Entries]:
        path = Path(directory.spec.path)
        with named(path):
            if directory.origin != "data":
                opened = foreign_directory(str(path), must_exist=directory.is_leaving)
            elif path.is_symlink():
                raise FolderNotOwned(
                    f"{path} is a link, so no skill is placed there. Remove it; skilldrop then "
                    "makes a folder."
                )
            else:
                opened = self._folders.opened(OwnedFolder(path, "skills"))
            with opened as dir_fd:
                yield Entries(dir_fd, packages.folder)

    def _update_entries(
        self, directory: DirectoryRow, packages: Packages, skill_ids: Collection[str] | None
    ) -> Kept:
        path = directory.spec.path
        stored = tables.stored_links(self._db, directory, skill_ids)
        wanted = {row.name: row for row in wanted_entries(self._db, directory, skill_ids)}
        if packages.in_place and not (stored or wanted) and not Path(path).exists():
            return Kept(path)
        with self._opened(directory, packages) as entries:
            if skill_ids is None:
                stored |= self._recognised(directory, entries, stored, wanted)
            rows = {name: _expected(stored.get(name), row, entries) for name, row in wanted.items()}
            self._rows.begin(
                directory, [row for name, row in rows.items() if row != stored.get(name)]
            )
            todo = [
                row
                for name, row in rows.items()
                if row != stored.get(name)
                or row.former_target is not None
                or (row.is_linked and not self._is_right(directory, entries, row))
            ]
            done = self._put(directory, entries, todo, stored)
            if skill_ids is None and directory.origin == "data":
                self._log_foreign(path, entries.names() - stored.keys() - wanted.keys())
        gone = {name: row for name, row in stored.items() if name not in wanted}
        waiting = self._gone.setdefault(path, {})
        self._gone[path] = {
            name: row for name, row in (waiting | gone).items() if name not in wanted
        }
        made = [row.name for row in done if row.is_linked and row != stored.get(row.name)]
        return Kept(path, made=tuple(made))

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
        """Store the entries that a lost catalog made, and return them; sweep what a crash left.

        In directories of others they are those of wanted names only.
        """
        found: dict[str, LinkRow] = {}
        for name in entries.sweep(stored.keys() | wanted.keys()):
            known = stored.get(name)
            is_claimed = known and known.is_linked and entries.is_ours(known)
            if is_claimed or (directory.origin != "data" and name not in wanted):
                continue
            if target := entries.recognised(
                directory.spec.path, name, with_copies=directory.origin == "data"
            ):
                skill_id = wanted[name].skill_id if name in wanted else name
                found[name] = LinkRow(name, skill_id, target, is_linked=True)
        self._rows.begin(directory, found.values())
        return found

    def _is_right(self, directory: DirectoryRow, entries: Entries, row: LinkRow) -> bool:
        """Return whether an entry is as stored; the files of a copy are compared after a start."""
        if not directory.spec.copy:
            return entries.target(row.name) == row.target
        if not self._compares_files:
            return entries.is_folder(row.name)
        return not any(damages(Path(directory.spec.path), row.name, self._files_of(row.target)))

    def _put(
        self,
        directory: DirectoryRow,
        entries: Entries,
        rows: Sequence[LinkRow],
        stored: Mapping[str, LinkRow],
    ) -> list[LinkRow]:
        """Make entries unless their names are taken; store their new rows, and return them."""
        claimed = [row for row in rows if row.is_linked]
        with named(directory.spec.path):
            if directory.spec.copy:
                results = entries.put_copies(claimed, self._files_of)
            else:
                results = {row.name: entries.put_link(row) for row in claimed}
        done: list[LinkRow] = []
        for row in rows:
            before, is_put = stored.get(row.name), results.get(row.name, False)
            if is_put is None:
                log.warning(
                    "%s/%s is not updated: the files of version %s are damaged",
                    directory.spec.path,
                    row.name,
                    row.target,
                )
                tables.doubt(self._db, row.target)
                done.append(before or row._replace(is_linked=False, former_target=None))
                continue
            if not is_put and (before is None or before.is_linked):
                log.warning(
                    "%s/%s was not made by skilldrop, so it stays, and the skill is not placed "
                    "there",
                    directory.spec.path,
                    row.name,
                )
            done.append(row._replace(is_linked=is_put, former_target=None))
        changed = [new for new, row in zip(done, rows, strict=True) if new != row]
        self._rows.finish(directory, changed, [])
        return done

    def _files_of(self, package_path: str) -> list[PackageFile]:
        version = tables.version_of(self._db, package_path)
        return package_files(self._db, version) if version is not None else []

    def _remove_gone(self, directory: DirectoryRow, packages: Packages) -> tuple[str, ...]:
        """Remove the entries of skills that left; return the names of those that were there."""
        path = directory.spec.path
        gone = self._gone.get(path, {})
        removed: list[str] = []
        if gone:
            try:
                with self._opened(directory, packages) as entries:
                    removed = [row.name for row in gone.values() if entries.remove(row)]
            except FileNotFoundError:
                pass  # with the directory, its entries are gone
            except OSError as error:
                self._rows.set_trouble(directory, trouble := _sentence(error, directory))
                if directory.origin == "data":
                    raise NotPlaced(trouble) from error
                return ()
            self._rows.finish(directory, [], list(gone))
        self._gone.pop(path, None)
        if directory.is_leaving:
            self._rows.forget(directory)
        return tuple(removed)


def _expected(stored: LinkRow | None, wanted: LinkRow, entries: Entries) -> LinkRow:
    """Return the row to store before an entry is made; a name of others is not claimed."""
    if stored and stored.is_linked:
        if stored.target == wanted.target:
            return stored._replace(skill_id=wanted.skill_id)
        return wanted._replace(former_target=stored.target, is_linked=True)
    if entries.exists(wanted.name):
        return wanted
    return wanted._replace(is_linked=True, former_target="")


def _sentence(error: Exception, directory: DirectoryRow) -> str:
    path = directory.spec.path
    kind = "skills" if directory.spec.copy else "links"
    if not isinstance(error, OSError):
        return f"The {kind} in {path} stay as they are. {error}"
    where = str(error.filename or path)
    return f"The {kind} in {path} cannot be updated: {where}: {error.strerror or error}."
