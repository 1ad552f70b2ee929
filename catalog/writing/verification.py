"""Verification of packages and their copies by the files in them; damage is repaired."""

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from catalog.database import sql
from catalog.database.queries import Database
from catalog.model.errors import NotAsJudged
from catalog.text.times import iso
from catalog.writing.links.keeper import LinkKeeper
from catalog.writing.links.targets import Packages
from catalog.writing.package_jobs import package_files
from catalog.writing.packager import BATCH, Packager
from catalog.writing.packages.builder import Key
from catalog.writing.packages.folder import PackageFolder
from catalog.writing.packages.inspection import Damage, damages, set_modes
from catalog.writing.packages.staging import Candidates, Folder, PackageFile, Stager

log = logging.getLogger("skilldrop")

SHARE = 10
"""One in this many packages is verified each time, the longest unverified first."""
STEP, STEP_BYTES = 16, 8 * 2**20
"""Maximum number of packages verified in one step, and the bytes after which a step ends."""


class Packaged(NamedTuple):
    """A version that has a package."""

    version: int
    skill_id: str
    package_path: str


def check(
    db: Database, packager: Packager, copies: LinkKeeper, at: datetime, *, deep: bool = False
) -> Iterator[list[Key]]:
    """Check the files, sizes and modes of all packages, and with `deep` also the hashes.

    A damaged package is rebuilt from an intact copy of it or from its folder, or removed if the
    folder has changed; a damaged copy is made again from its package. Yield, for each batch, the
    skills that have to be scanned again. Raises sqlite3.Error and OSError.
    """
    if not packager.packaging:
        return
    packages = [
        Packaged(*row)
        for row in db.execute(
            "SELECT id, skill_id, package_path FROM versions"
            " WHERE package_path IS NOT NULL ORDER BY id"
        ).fetchall()
    ]
    for start in range(0, len(packages), BATCH):
        batch = packages[start : start + BATCH]
        yield _repaired(
            db,
            packager,
            copies,
            at,
            [(package, package_files(db, package.version)) for package in batch],
            deep=deep,
        )


def verify(
    db: Database, packager: Packager, copies: LinkKeeper, clock: Callable[[], datetime]
) -> Iterator[list[Key]]:
    """Hash a tenth of all packages, a batch at a time, the longest unverified first.

    Repairs and yields as `check` does. The caller may do other work between two steps. Raises
    sqlite3.Error and OSError.
    """
    left = -(-db.execute(_COUNT).fetchone()[0] // SHARE)
    while left > 0 and packager.packaging:
        batch = _next_batch(db, left)
        if not batch:
            return
        left -= len(batch)
        yield _repaired(db, packager, copies, clock(), batch, deep=True)


def _next_batch(db: Database, most: int) -> list[tuple[Packaged, list[PackageFile]]]:
    batch: list[tuple[Packaged, list[PackageFile]]] = []
    size = 0
    for row in db.execute(_OLDEST, [min(STEP, most)]).fetchall():
        if size < STEP_BYTES:
            package = Packaged(*row)
            batch.append((package, package_files(db, package.version)))
            size += sum(file.size for file in batch[-1][1])
    return batch


def _repaired(
    db: Database,
    packager: Packager,
    copies: LinkKeeper,
    at: datetime,
    batch: Sequence[tuple[Packaged, list[PackageFile]]],
    *,
    deep: bool,
) -> list[Key]:
    """Repair the damaged packages of a batch, and their copies; return the skills to scan again."""
    assert packager.packaging
    folder = packager.packaging.folder
    damaged: list[tuple[Packaged, Damage]] = []
    repaired = 0
    for package, files in batch:
        if wrong := list(damages(folder.path, package.package_path, files, deep=deep)):
            repaired += 1
            remaining = _with_modes(folder, package, files, wrong, deep=deep)
            if remaining and not from_copy(db, folder, package, copies):
                damaged.append((package, remaining[0]))
    again = _rebuilt(db, packager, damaged, at) if damaged else []
    repaired += copies.mend(
        Packages(folder.path, packager.packaging.in_place),
        {package.package_path: files for package, files in batch},
        deep=deep,
    )
    if deep:
        db.execute(
            "UPDATE versions SET verified_at = ? WHERE id IN (SELECT value FROM json_each(?))",
            [iso(at), sql.to_json([package.version for package, _ in batch])],
        )
    if repaired:
        db.execute("UPDATE health SET packages_repaired = packages_repaired + ?", [repaired])
    return again


def _with_modes(
    folder: PackageFolder,
    package: Packaged,
    files: Sequence[PackageFile],
    wrong: Sequence[Damage],
    *,
    deep: bool,
) -> list[Damage]:
    """Correct the modes of a package, and return the remaining damage."""
    modes = [damage for damage in wrong if damage.mode is not None]
    if not modes:
        return list(wrong)
    set_modes(folder.path, package.package_path, modes)
    remaining = list(damages(folder.path, package.package_path, files, deep=deep))
    if not remaining:
        log.warning(
            "%s/%s: %s; the modes were corrected", folder.path, package.package_path, modes[0]
        )
    return remaining


def from_copy(db: Database, folder: PackageFolder, package: Packaged, copies: LinkKeeper) -> bool:
    """Rebuild a damaged or missing package from an intact copy; return whether there is one."""
    files = package_files(db, package.version)
    with copies.intact(package.package_path, files) as copy, folder.opened() as packages:
        if copy is None:
            return False
        try:
            packages.stage(package.package_path, files, Folder(copy), Candidates(), Stager())
        except (NotAsJudged, OSError):  # it changes at this moment, or the disk is full
            packages.remove(package.package_path)
            return False
    log.warning("%s/%s was rebuilt from a copy", folder.path, package.package_path)
    return True


def _rebuilt(
    db: Database, packager: Packager, damaged: Sequence[tuple[Packaged, Damage]], at: datetime
) -> list[Key]:
    """Rebuild damaged packages, or remove them; return the skills to scan again."""

    def forget() -> list[str]:
        db.conn.executemany(
            "UPDATE versions SET package_path = NULL WHERE id = ?",
            [(package.version,) for package, _ in damaged],
        )
        return [package.skill_id for package, _ in damaged]

    again = packager.publish(forget, at, trigger="re-scan")
    assert packager.packaging
    folder = packager.packaging.folder
    with folder.opened() as packages:
        for package, damage in damaged:
            (is_made,) = db.execute(
                "SELECT package_path IS NOT NULL FROM versions WHERE id = ?", [package.version]
            ).fetchone()
            log.warning(
                "%s/%s: %s; it was %s",
                folder.path,
                package.package_path,
                damage,
                "rebuilt" if is_made else "removed, because its files exist nowhere else",
            )
            if not is_made:
                packages.remove(package.package_path)
    return again


_COUNT = "SELECT count(*) FROM versions WHERE package_path IS NOT NULL"
_OLDEST = """
    SELECT id, skill_id, package_path FROM versions
    WHERE package_path IS NOT NULL ORDER BY verified_at LIMIT ?
"""
