"""Mends what a crash, a changed setting or a lost file left between catalog and packages."""

from collections.abc import Iterator
from datetime import datetime

from sqlite_utils import Database

from catalog import pins, rows
from catalog.making import Key
from catalog.package_folder import PackageFolder, Shelf, remove
from catalog.packaging import BATCH, Packager, package_files


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
    _unpin_lost(db, packager, at)
    _flip(db, folder, shelves)
    wanted = [skill_id for skill_id, in db.execute(_AMISS)]
    yield from packager.publish_all(wanted, at)


def check(db: Database, packager: Packager, at: datetime, *,
          deep: bool = False) -> Iterator[list[Key]]:
    """Look at all packages, by their lists of files and sizes, or if deep by their hashes.

    A damaged one is made again from its folder, and one that cannot be is gone. Yield, for a
    batch at a time, the skills that have to be looked at again. Raises sqlite3.Error and OSError.
    """
    if not packager.packaging:
        return
    folder = packager.packaging.folder
    found = db.execute("SELECT id, skill, skill_id, package_path FROM versions"
                       " WHERE package_path IS NOT NULL ORDER BY id").fetchall()
    for start in range(0, len(found), BATCH):
        damaged = [each for each in found[start : start + BATCH]
                   if not folder.is_whole(each[3], package_files(db, each[0]), deep=deep)]
        yield _made_again(db, packager, damaged, at) if damaged else []


def _made_again(db: Database, packager: Packager, damaged: list[tuple[int, int, str, str]],
                at: datetime) -> list[Key]:
    def forget() -> list[str]:
        db.conn.executemany("UPDATE versions SET package_path = NULL WHERE id = ?",
                            [(version,) for version, *_ in damaged])
        return [skill_id for _, _, skill_id, _ in damaged]

    again = packager.publish(forget, at, anew=True)
    _unpin_lost(db, packager, at)
    assert packager.packaging
    for version, _, _, package_path in damaged:
        kept = db.execute("SELECT package_path FROM versions WHERE id = ?", [version]).fetchone()
        if not kept[0]:
            packager.packaging.folder.drop(package_path)
    return again


def _sweep(db: Database, folder: PackageFolder, shelves: dict[str, Shelf]) -> None:
    """Remove what no version names: it was being made, or removed, when the program ended."""
    is_new = not db.execute("SELECT 1 FROM versions LIMIT 1").fetchone()
    named = {path for path, in db.execute(
        "SELECT package_path FROM versions WHERE package_path IS NOT NULL")}
    for shelf in shelves.values():
        if is_new and shelf.current is not None:
            continue  # of a catalog that was lost: agents read it until this one knows better
        unnamed = [version for version in shelf.versions
                   if f"{shelf.skill_id}/{version}" not in named]
        for version in (*unnamed, *shelf.half_made):
            remove(f"{folder.path}/{shelf.skill_id}/{version}")
        if shelf.current is not None and f"{shelf.skill_id}/{shelf.current}" not in named:
            folder.drop_current(shelf.skill_id)


def _note_lost(db: Database, shelves: dict[str, Shelf]) -> None:
    there = [f"{shelf.skill_id}/{version}" for shelf in shelves.values()
             for version in shelf.versions]
    db.execute("UPDATE versions SET package_path = NULL, retired_at = NULL"
               " WHERE package_path IS NOT NULL"
               " AND package_path NOT IN (SELECT value FROM json_each(?))", [rows.to_json(there)])


def _unpin_lost(db: Database, packager: Packager, at: datetime) -> None:
    """Let skills go that are held at a version whose package is lost, or no longer wanted."""
    for skill in list(db.query(_HELD_AT_NOTHING)):
        packager.publish(lambda skill=skill: pins.release_row(db, skill), at)  # type: ignore[misc]


def _flip(db: Database, folder: PackageFolder, shelves: dict[str, Shelf]) -> None:
    for package_path, in db.execute(_PUBLIC).fetchall():
        skill_id, _, version = package_path.partition("/")
        if skill_id not in shelves or shelves[skill_id].current != version:
            folder.flip(package_path)


_PUBLIC = """
    SELECT s.package_path FROM skills AS s
    WHERE s.status = 'active' AND s.package_path IS NOT NULL AND s.package_path =
        (SELECT package_path FROM versions WHERE id = s.current_version_id)
"""
_HELD_AT_NOTHING = """
    SELECT s.* FROM skills AS s INDEXED BY skills_by_pinned_version
    JOIN versions AS v ON v.id = s.pinned_version_id
    WHERE s.pinned_version_id IS NOT NULL AND (v.package_path IS NULL OR NOT has_package(s.path))
"""
_AMISS = """
    SELECT DISTINCT s.skill_id FROM skills AS s
    WHERE CASE WHEN s.status = 'active' AND has_package(s.path)
        THEN s.package_path IS NOT
                (SELECT package_path FROM versions WHERE id = s.current_version_id)
            OR (SELECT package_path FROM versions WHERE id =
                    (SELECT max(id) FROM versions WHERE skill = s.id)) IS NULL
        ELSE s.package_path IS NOT NULL END
    ORDER BY s.skill_id
"""
