"""Mends what a crash, a changed setting or a lost file left between catalog and packages."""

from collections.abc import Iterator
from datetime import datetime

from sqlite_utils import Database

from catalog import rows
from catalog.package_folder import PackageFolder, Shelf, link_target, remove
from catalog.packaging import Packager

BATCH = 512
"""Skills published in one transaction at most."""


def mend(db: Database, packager: Packager, at: datetime) -> Iterator[int]:
    """Make the packages what the catalog says, and yield how many skills were published so far.

    Half made and unnamed packages go, lost ones are made again from their folders, and each
    `current` leads where it should. Raises sqlite3.Error and OSError.
    """
    if not packager.packaging:
        return
    folder = packager.packaging.folder
    shelves = {shelf.skill_id: shelf for shelf in folder.shelves()}
    _sweep(db, folder, shelves)
    _note_lost(db, shelves)
    _flip(db, folder, shelves)
    wanted = [skill_id for skill_id, in db.execute(_AMISS)]
    for start in range(0, len(wanted), BATCH):
        some = wanted[start : start + BATCH]
        packager.publish(some, at)
        yield start + len(some)


def _sweep(db: Database, folder: PackageFolder, shelves: dict[str, Shelf]) -> None:
    """Remove what no version names: it was being made, or removed, when the program ended."""
    named = {path for path, in db.execute(
        "SELECT package_path FROM versions WHERE package_path IS NOT NULL")}
    for shelf in shelves.values():
        unnamed = [version for version in shelf.versions
                   if f"{shelf.skill_id}/{version}" not in named]
        for version in unnamed:
            remove(f"{folder.path}/{shelf.skill_id}/{version}")
        if shelf.current and _led_to(shelf) not in named:
            folder.drop_current(shelf.skill_id)


def _led_to(shelf: Shelf) -> str:
    current = shelf.current or ""
    return current.removeprefix("../") if "/" in current else f"{shelf.skill_id}/{current}"


def _note_lost(db: Database, shelves: dict[str, Shelf]) -> None:
    there = [f"{shelf.skill_id}/{version}" for shelf in shelves.values()
             for version in shelf.versions]
    db.execute("UPDATE versions SET package_path = NULL, retired_at = NULL"
               " WHERE package_path IS NOT NULL"
               " AND package_path NOT IN (SELECT value FROM json_each(?))", [rows.to_json(there)])


def _flip(db: Database, folder: PackageFolder, shelves: dict[str, Shelf]) -> None:
    for skill_id, package_path in db.execute(_PUBLIC).fetchall():
        shelf = shelves.get(skill_id)
        if shelf is None or shelf.current != link_target(skill_id, package_path):
            folder.flip(skill_id, package_path)


_PUBLIC = """
    SELECT s.skill_id, s.package_path FROM skills AS s
    JOIN versions AS v ON v.id = s.current_version_id AND v.package_path = s.package_path
    WHERE s.status = 'active'
"""
_AMISS = """
    SELECT DISTINCT s.skill_id FROM skills AS s
    LEFT JOIN versions AS v ON v.id = s.current_version_id
    LEFT JOIN versions AS n
        ON n.id = (SELECT max(id) FROM versions WHERE skill = s.id) AND s.status = 'active'
    WHERE s.package_path IS NOT
            (CASE WHEN s.status = 'active' AND has_package(s.path) THEN v.package_path END)
        OR (s.status = 'active' AND has_package(s.path) AND n.package_path IS NULL)
    ORDER BY s.skill_id
"""
