"""Repair of packages that differ from the catalog after a crash, a changed setting or damage."""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path

from sqlite_utils import Database

from catalog.database import sql
from catalog.text.times import iso
from catalog.writing import pins, verification
from catalog.writing.packager import Packager
from catalog.writing.packages.builder import Key
from catalog.writing.packages.folder import PackageFolder, Packages
from catalog.writing.packages.inspection import PackagesListing, list_packages

log = logging.getLogger("skilldrop")

_TOLD = 10
"""Foreign names that are told at once, at most."""


class PackageRepair:
    """Repair of the packages of one catalog."""

    def __init__(self, db: Database, packager: Packager) -> None:
        """Take the catalog and its packager."""
        self._db = db
        self._packager = packager
        self.is_incomplete = False
        """Whether the disk had no room for all the packages that were missing."""
        self.awaits_scan = False
        """Whether packages of a lost catalog are kept until a scan tells which are still valid."""

    def begin(self, folder: Path) -> None:
        """Note whether a folder holds packages that this catalog has no version of."""
        self.awaits_scan = (
            bool(list_packages(folder).directories)
            and not self._db.execute("SELECT 1 FROM versions LIMIT 1").fetchone()
        )

    def repair_all(self, at: datetime) -> Iterator[int]:
        """Make the packages equal to the catalog; see `_repair_all`."""
        yield from _repair_all(self._db, self._packager, at)
        self.is_incomplete = False

    def remove_lost(self, at: datetime) -> Iterator[int]:
        """Remove the packages of a lost catalog, after a complete scan."""
        if self.awaits_scan:
            yield from _repair_all(self._db, self._packager, at, is_scanned=True)
            self.awaits_scan = False

    def check(self, at: datetime, *, deep: bool = False) -> Iterator[list[Key]]:
        """Check all packages and repair them; see `verification.check`."""
        return verification.check(self._db, self._packager, at, deep=deep)

    def verify(self, clock: Callable[[], datetime]) -> Iterator[list[Key]]:
        """Verify the packages verified longest ago; see `verification.verify`."""
        return verification.verify(self._db, self._packager, clock)

    @property
    def count(self) -> int:
        """The number of packages repaired so far."""
        return int(self._db.execute("SELECT packages_mended FROM health").fetchone()[0])


def _repair_all(
    db: Database, packager: Packager, at: datetime, *, is_scanned: bool = False
) -> Iterator[int]:
    """Make the packages what the catalog says, and yield how many skills were published so far.

    Half made and unnamed packages go, lost ones are made again from their folders, and each
    `current` leads where it should. A catalog without any version keeps what agents read until
    is_scanned says that the roots were looked at. Raises sqlite3.Error and OSError.
    """
    if not packager.packaging:
        return
    folder = packager.packaging.folder
    listing = list_packages(folder.path)
    _tell_foreign(folder, listing)
    _note_lost(db, listing)
    if listing.directories:
        with folder.opened() as packages:
            _sweep(db, packages, listing, is_scanned=is_scanned)
    _unpin_in_place(db, packager, at)
    if lost := [skill_id for (skill_id,) in db.execute(_HELD_AT_NOTHING)]:
        packager.publish(lambda: lost, at, trigger="start")
    if listing.directories:
        with folder.opened() as packages:
            _switch_all(db, packages, listing)
    wanted = [skill_id for (skill_id,) in db.execute(_UNPUBLISHED)]
    yield from packager.publish_all(wanted, at)


def _tell_foreign(folder: PackageFolder, listing: PackagesListing) -> None:
    for path in listing.foreign[:_TOLD]:
        log.warning("%s/%s was not made by skilldrop, and is left alone", folder.path, path)
    if more := len(listing.foreign[_TOLD:]):
        log.warning("%s holds %d more that skilldrop did not make", folder.path, more)


def _sweep(db: Database, packages: Packages, listing: PackagesListing, *, is_scanned: bool) -> None:
    """Remove what no version names: it was being made, or removed, when the program ended."""
    is_new = not (is_scanned or db.execute("SELECT 1 FROM versions LIMIT 1").fetchone())
    named = {
        path
        for (path,) in db.execute(
            "SELECT package_path FROM versions WHERE package_path IS NOT NULL"
        )
    }
    public = {path.partition("/")[0] for (path,) in db.execute(_PUBLIC)}
    for directory in listing.directories.values():
        if is_new and directory.current is not None:
            continue  # of a catalog that was lost: agents read it until this one knows better
        if directory.current is not None and (
            directory.skill_id not in public
            or f"{directory.skill_id}/{directory.current}" not in named
        ):
            packages.remove_current(directory.skill_id)
        for name in (*directory.versions, *directory.unfinished):
            if f"{directory.skill_id}/{name}" not in named:
                packages.remove(f"{directory.skill_id}/{name}")


def _note_lost(db: Database, listing: PackagesListing) -> None:
    there = [
        f"{directory.skill_id}/{version}"
        for directory in listing.directories.values()
        for version in directory.versions
    ]
    db.execute(
        "UPDATE versions SET package_path = NULL, retired_at = NULL"
        " WHERE package_path IS NOT NULL"
        " AND package_path NOT IN (SELECT value FROM json_each(?))",
        [sql.to_json(there)],
    )


def _unpin_in_place(db: Database, packager: Packager, at: datetime) -> None:
    """Let skills go that are held, and are no longer published as packages."""
    for skill in list(db.query(_HELD_IN_PLACE)):
        packager.publish(
            lambda skill=skill: pins.unpin_row(db, skill, iso(at)),  # type: ignore[misc]
            at,
            trigger="start",
        )
        log.warning(
            "%s/%s was held at a version, and is published in place now, so that it is "
            "held no longer: agents read what its folder holds",
            skill["root"],
            skill["path"],
        )


def _switch_all(db: Database, packages: Packages, listing: PackagesListing) -> None:
    for (package_path,) in db.execute(_PUBLIC).fetchall():
        skill_id, _, version = package_path.partition("/")
        directory = listing.directories.get(skill_id)
        if directory and directory.current != version:
            packages.switch_current(package_path)


_PUBLIC = """
    SELECT s.package_path FROM skills AS s
    WHERE s.status = 'active' AND s.package_path IS NOT NULL AND s.package_path =
        (SELECT package_path FROM versions WHERE id = s.current_version_id)
"""
_HELD_IN_PLACE = """
    SELECT s.* FROM skills AS s INDEXED BY skills_by_pinned_version
    WHERE s.pinned_version_id IS NOT NULL AND NOT has_package(s.path)
"""
_HELD_AT_NOTHING = """
    SELECT DISTINCT s.skill_id FROM skills AS s INDEXED BY skills_by_pinned_version
    JOIN versions AS v ON v.id = s.pinned_version_id
    WHERE s.pinned_version_id IS NOT NULL AND v.package_path IS NULL
"""
_UNPUBLISHED = """
    SELECT DISTINCT s.skill_id FROM skills AS s
    WHERE CASE WHEN s.status = 'active' AND has_package(s.path)
        THEN s.package_path IS NOT
                (SELECT package_path FROM versions WHERE id = s.current_version_id)
            OR (SELECT package_path FROM versions WHERE id =
                    (SELECT max(id) FROM versions WHERE skill = s.id)) IS NULL
        ELSE s.package_path IS NOT NULL END
    ORDER BY s.skill_id
"""
