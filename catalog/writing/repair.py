"""Repair of packages that differ from the catalog after a crash, a changed setting or damage."""

import logging
from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from catalog.database import sql
from catalog.database.queries import Database
from catalog.model.errors import NotAsJudged
from catalog.text import humanize
from catalog.text.humanize import iso
from catalog.writing import decisions
from catalog.writing.links.keeper import LinkKeeper
from catalog.writing.links.table import Packages as Published
from catalog.writing.packager import BATCH, Packager
from catalog.writing.packages.builder import Key
from catalog.writing.packages.folder import PackageFolder, Packages
from catalog.writing.packages.inspection import (
    Damage,
    PackagesListing,
    damages,
    list_packages,
    package_files,
    set_modes,
)
from catalog.writing.packages.staging import Candidates, Folder, PackageFile, Stager
from catalog.writing.takeover import Takeover

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
        Published(folder.path, packager.packaging.in_place),
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


_MOST_LOGGED = 10
"""Maximum number of foreign files logged by name."""


class PackageRepair:
    """Repair of the packages of one catalog."""

    def __init__(
        self, db: Database, packager: Packager, copies: LinkKeeper, takeover: Takeover
    ) -> None:
        """Take the catalog, its packager, the keeper of copies, and the takeover of a lost one."""
        self._db = db
        self._packager = packager
        self._copies = copies
        self._takeover = takeover
        self.is_incomplete = False
        """Whether the disk was too full for all missing packages."""

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to do."""
        return not (self.is_incomplete or self._takeover.is_under_way)

    def publish_missing(self, at: datetime) -> Iterator[int]:
        """Publish skills without a package, where all packages are as the catalog left them.

        Yield the number of skills published so far.
        """
        return _publish_missing(self._db, self._packager, at)

    def repair_all(self, at: datetime) -> Iterator[int]:
        """Make the packages match the catalog; see `_repair_all`."""
        yield from _repair_all(
            self._db, self._packager, self._copies, at, sweeps=not self._takeover.is_under_way
        )
        self.is_incomplete = False

    def end_takeover(self, at: datetime) -> Iterator[int]:
        """Remove the packages that only a lost catalog knew, once all roots were read."""
        if self._takeover.is_under_way:
            removed = yield from _repair_all(self._db, self._packager, self._copies, at)
            if removed:
                count = humanize.count(removed, "package")
                log.warning("removed %s that only the lost catalog knew", count)
            self._takeover.end(removed)

    def check(self, at: datetime, *, deep: bool = False) -> Iterator[list[Key]]:
        """Check all packages and repair them; see `verification.check`."""
        return check(self._db, self._packager, self._copies, at, deep=deep)

    def verify(self, clock: Callable[[], datetime]) -> Iterator[list[Key]]:
        """Verify the packages verified longest ago; see `verification.verify`."""
        return verify(self._db, self._packager, self._copies, clock)

    @property
    def count(self) -> int:
        """The number of packages repaired so far."""
        return int(self._db.execute("SELECT packages_repaired FROM health").fetchone()[0])


def _repair_all(
    db: Database,
    packager: Packager,
    copies: LinkKeeper,
    at: datetime,
    *,
    sweeps: bool = True,
) -> Generator[int, None, int]:
    """Make the packages match the catalog, and yield the number of skills published so far.

    Rebuilds missing packages from their folders, and corrects each `current`. If it `sweeps`, it
    also removes unfinished and unnamed packages, and returns their number. Raises sqlite3.Error
    and OSError.
    """
    removed = 0
    if not packager.packaging:
        return removed
    folder = packager.packaging.folder
    listing = list_packages(folder.path)
    _log_foreign(folder, listing)
    copies.recognise(Published(folder.path, packager.packaging.in_place))
    _restore_missing(db, packager, copies, listing)
    if listing.directories and sweeps:
        with folder.opened() as packages:
            removed = _sweep(db, packages, listing)
    _publish_held(db, packager, at)
    listing = list_packages(folder.path)
    if listing.directories:
        with folder.opened() as packages:
            _switch_all(db, packages, listing)
    yield from _publish_others(db, packager, at)
    return removed


def _publish_missing(db: Database, packager: Packager, at: datetime) -> Iterator[int]:
    _publish_held(db, packager, at)
    yield from _publish_others(db, packager, at)


def _publish_held(db: Database, packager: Packager, at: datetime) -> None:
    _unpin_in_place(db, packager, at)
    if held := [skill_id for (skill_id,) in db.execute(_HELD_WITHOUT_PACKAGE)]:
        packager.publish(lambda: held, at, trigger="start")


def _publish_others(db: Database, packager: Packager, at: datetime) -> Iterator[int]:
    skill_ids = [skill_id for (skill_id,) in db.execute(_UNPUBLISHED)]
    yield from packager.publish_all(skill_ids, at)


def _log_foreign(folder: PackageFolder, listing: PackagesListing) -> None:
    for path in listing.foreign[:_MOST_LOGGED]:
        log.warning("%s/%s was not made by skilldrop and is left unchanged", folder.path, path)
    if more := len(listing.foreign[_MOST_LOGGED:]):
        log.warning("%s contains %d more files or folders not made by skilldrop", folder.path, more)


def _sweep(db: Database, packages: Packages, listing: PackagesListing) -> int:
    """Remove packages that no version names, and wrong links; return the number of packages."""
    removed = 0
    named = {
        path
        for (path,) in db.execute(
            "SELECT package_path FROM versions WHERE package_path IS NOT NULL"
        )
    }
    public = {path.partition("/")[0] for (path,) in db.execute(_PUBLIC)}
    for directory in listing.directories.values():
        if directory.current is not None and (
            directory.skill_id not in public
            or f"{directory.skill_id}/{directory.current}" not in named
        ):
            packages.remove_current(directory.skill_id)
        for name in (*directory.versions, *directory.unfinished):
            if f"{directory.skill_id}/{name}" not in named:
                packages.remove(f"{directory.skill_id}/{name}")
                removed += name in directory.versions
    return removed


def _restore_missing(
    db: Database, packager: Packager, copies: LinkKeeper, listing: PackagesListing
) -> None:
    """Rebuild missing packages from their copies, or clear the package paths of their versions."""
    assert packager.packaging
    existing = {
        f"{directory.skill_id}/{version}"
        for directory in listing.directories.values()
        for version in directory.versions
    }
    named = db.execute(
        "SELECT id, skill_id, package_path FROM versions WHERE package_path IS NOT NULL"
    ).fetchall()
    lost = [
        (row[0],)
        for row in named
        if row[2] not in existing
        and not from_copy(db, packager.packaging.folder, Packaged(*row), copies)
    ]
    db.conn.executemany(
        "UPDATE versions SET package_path = NULL, retired_at = NULL WHERE id = ?", lost
    )


def _unpin_in_place(db: Database, packager: Packager, at: datetime) -> None:
    """Unpin skills that are no longer published as packages."""
    for skill in list(db.query(_PINNED_IN_PLACE)):
        packager.publish(
            lambda skill=skill: decisions.unpin_row(db, skill, iso(at)),  # type: ignore[misc]
            at,
            trigger="start",
        )
        log.warning(
            "%s/%s is now published in place, so it is no longer pinned to a version: "
            "agents read its folder",
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
_PINNED_IN_PLACE = """
    SELECT s.* FROM skills AS s INDEXED BY skills_by_pinned_version_id
    WHERE s.pinned_version_id IS NOT NULL AND NOT has_package(s.path)
"""
_HELD_WITHOUT_PACKAGE = """
    SELECT DISTINCT s.skill_id FROM skills AS s INDEXED BY skills_by_pinned_version_id
    JOIN versions AS v ON v.id = s.pinned_version_id
    WHERE s.pinned_version_id IS NOT NULL AND v.package_path IS NULL
    UNION
    SELECT s.skill_id FROM versions AS n JOIN skills AS s ON s.id = n.skill
    JOIN versions AS v ON v.id IN (s.current_version_id, n.id)
    WHERE n.review IN ('waits', 'rejected') AND v.package_path IS NULL
        AND (s.status IN ('active', 'shadowed') OR s.status = 'pending' AND n.review = 'waits')
"""
# Without the index in the order of the result: the search then reads the table in its own order.
_UNPUBLISHED = """
    SELECT DISTINCT s.skill_id FROM skills AS s NOT INDEXED
    WHERE CASE WHEN s.status = 'active' AND has_package(s.path)
        THEN s.package_path IS NOT
                (SELECT package_path FROM versions WHERE id = s.current_version_id)
            OR (SELECT package_path FROM versions WHERE id =
                    (SELECT max(id) FROM versions WHERE skill = s.id)) IS NULL
        ELSE s.package_path IS NOT NULL END
    ORDER BY s.skill_id
"""
