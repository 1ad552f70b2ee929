"""Verification of packages by the files in them; damaged packages are repaired."""

import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlite_utils import Database

from catalog.database import sql
from catalog.text.times import iso
from catalog.writing.package_jobs import package_files
from catalog.writing.packager import BATCH, Packager
from catalog.writing.packages.builder import Key
from catalog.writing.packages.folder import PackageFolder
from catalog.writing.packages.inspection import Damage, damages, set_modes
from catalog.writing.packages.staging import PackageFile

log = logging.getLogger("skilldrop")

SHARE = 10
"""One of so many packages is verified each time, those first that were verified longest ago."""
FEW, FEW_BYTES = 16, 8 * 2**20
"""Packages verified at a stretch, at most, and the bytes after which no further one is begun."""


class Packaged(NamedTuple):
    """A version that has a package."""

    version: int
    skill_id: str
    package_path: str


def check(
    db: Database, packager: Packager, at: datetime, *, deep: bool = False
) -> Iterator[list[Key]]:
    """Look at all packages, by their lists of files, sizes and modes, or if deep by their hashes.

    A damaged one is made again from its folder, and one that cannot be is gone. Yield, for a
    batch at a time, the skills that have to be looked at again. Raises sqlite3.Error and OSError.
    """
    if not packager.packaging:
        return
    found = [
        Packaged(*row)
        for row in db.execute(
            "SELECT id, skill_id, package_path FROM versions"
            " WHERE package_path IS NOT NULL ORDER BY id"
        ).fetchall()
    ]
    for start in range(0, len(found), BATCH):
        batch = found[start : start + BATCH]
        yield _mended(
            db, packager, at, [(each, package_files(db, each.version)) for each in batch], deep=deep
        )


def verify(db: Database, packager: Packager, clock: Callable[[], datetime]) -> Iterator[list[Key]]:
    """Hash a tenth of all packages, a few at a time, those first that were hashed longest ago.

    What is damaged is mended, and what is yielded is the same as of `check`. Other work may be
    done between two steps. Raises sqlite3.Error and OSError.
    """
    left = -(-db.execute(_COUNT).fetchone()[0] // SHARE)
    while left > 0 and packager.packaging:
        few = _few(db, left)
        if not few:
            return
        left -= len(few)
        yield _mended(db, packager, clock(), few, deep=True)


def _few(db: Database, most: int) -> list[tuple[Packaged, list[PackageFile]]]:
    few: list[tuple[Packaged, list[PackageFile]]] = []
    size = 0
    for row in db.execute(_OLDEST, [min(FEW, most)]).fetchall():
        if size < FEW_BYTES:
            each = Packaged(*row)
            few.append((each, package_files(db, each.version)))
            size += sum(file.size for file in few[-1][1])
    return few


def _mended(
    db: Database,
    packager: Packager,
    at: datetime,
    batch: Sequence[tuple[Packaged, list[PackageFile]]],
    *,
    deep: bool,
) -> list[Key]:
    """Mend what is damaged in a batch; return the skills that have to be looked at again."""
    assert packager.packaging
    folder = packager.packaging.folder
    damaged: list[tuple[Packaged, Damage]] = []
    mended = 0
    for each, files in batch:
        if found := list(damages(folder.path, each.package_path, files, deep=deep)):
            mended += 1
            lasting = _with_modes(folder, each, files, found, deep=deep)
            damaged += [(each, lasting[0])] if lasting else []
    again = _made_again(db, packager, damaged, at) if damaged else []
    if deep:
        db.execute(
            "UPDATE versions SET verified_at = ? WHERE id IN (SELECT value FROM json_each(?))",
            [iso(at), sql.to_json([each.version for each, _ in batch])],
        )
    if mended:
        db.execute("UPDATE health SET packages_mended = packages_mended + ?", [mended])
    return again


def _with_modes(
    folder: PackageFolder,
    each: Packaged,
    files: Sequence[PackageFile],
    found: Sequence[Damage],
    *,
    deep: bool,
) -> list[Damage]:
    """Set the modes of a package right, and return what else is wrong with it."""
    wrong = [damage for damage in found if damage.mode is not None]
    if not wrong:
        return list(found)
    set_modes(folder.path, each.package_path, wrong)
    lasting = list(damages(folder.path, each.package_path, files, deep=deep))
    if not lasting:
        log.warning("%s/%s: %s; the modes are set right", folder.path, each.package_path, wrong[0])
    return lasting


def _made_again(
    db: Database, packager: Packager, damaged: Sequence[tuple[Packaged, Damage]], at: datetime
) -> list[Key]:
    def forget() -> list[str]:
        db.conn.executemany(
            "UPDATE versions SET package_path = NULL WHERE id = ?",
            [(each.version,) for each, _ in damaged],
        )
        return [each.skill_id for each, _ in damaged]

    again = packager.publish(forget, at, trigger="re-scan", unshared=True)
    assert packager.packaging
    folder = packager.packaging.folder
    with folder.opened() as packages:
        for each, damage in damaged:
            (is_made,) = db.execute(
                "SELECT package_path IS NOT NULL FROM versions WHERE id = ?", [each.version]
            ).fetchone()
            log.warning(
                "%s/%s: %s; it is %s",
                folder.path,
                each.package_path,
                damage,
                "made again" if is_made else "removed, as its files are nowhere else",
            )
            if not is_made:
                packages.remove(each.package_path)
    return again


_COUNT = "SELECT count(*) FROM versions WHERE package_path IS NOT NULL"
_OLDEST = """
    SELECT id, skill_id, package_path FROM versions
    WHERE package_path IS NOT NULL ORDER BY verified_at LIMIT ?
"""
