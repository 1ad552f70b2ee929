"""Repair of packages that differ from the catalog after a crash, a changed setting or damage."""

import logging
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from catalog.database.queries import Writer, to_json
from catalog.model.errors import NotAsJudged, NotPlaced
from catalog.text import humanize
from catalog.text.humanize import iso
from catalog.writing import decisions
from catalog.writing.links.keeper import LinkKeeper
from catalog.writing.packager import BATCH, Packager
from catalog.writing.packages.builder import Key, Packaging
from catalog.writing.packages.inspection import (
    Damage,
    PackagesListing,
    damages,
    files_of_package,
    list_packages,
    packaged,
    public,
    strays,
    with_modes,
)
from catalog.writing.packages.staging import files_in
from catalog.writing.takeover import Takeover

log = logging.getLogger("skilldrop")

SHARE = 10
"""One in this many packages is verified each time, the longest unverified first."""
STEP = 4
"""Packages verified in one step, for which a change may have to wait."""
_MOST_LOGGED = 10
"""Maximum number of foreign files logged by name."""


class PackageRepair:
    """Repair of the packages of one catalog."""

    def __init__(
        self, db: Writer, packager: Packager, copies: LinkKeeper, takeover: Takeover
    ) -> None:
        self._db = db
        self._packager = packager
        self._copies = copies
        self._takeover = takeover
        self.is_incomplete = False
        """Whether the disk was too full for all missing packages."""

    @property
    def count(self) -> int:
        """The number of packages repaired so far."""
        return int(self._db.execute("SELECT packages_repaired FROM health").fetchone()[0])

    # After a crash or a changed setting

    def repair_all(self, at: datetime) -> Iterator[int]:
        """Make the packages match the catalog, and yield the number of skills published so far.

        Rebuilds missing packages from their copies or folders, corrects each `current`, and removes
        unfinished and unnamed packages, but not during a takeover. Raises sqlite3.Error and
        OSError.
        """
        yield from self._repair_all(at, sweeps=not self._takeover.is_under_way)
        self.is_incomplete = False

    def end_takeover(self, at: datetime) -> Iterator[int]:
        """Remove the packages that only a lost catalog knew, once all roots were read."""
        if self._takeover.is_under_way:
            removed = yield from self._repair_all(at, sweeps=True)
            if removed:
                count = humanize.count(removed, "package")
                log.warning("removed %s that only the lost catalog knew", count)
            self._takeover.end(removed)

    def _repair_all(self, at: datetime, *, sweeps: bool) -> Generator[int, None, int]:
        """Make the packages match the catalog; return the number of packages removed."""
        if not self._packager.packaging:
            return 0
        packaging = self._packager.packaging
        listing = list_packages(packaging.folder.path)
        removed = 0
        _log_foreign(packaging.folder.path, listing)
        lost = [
            (path,)
            for path in packaged(self._db)
            if path not in listing.packages and not self._from_copy(packaging, path)
        ]
        self._db.conn.executemany(
            "UPDATE versions SET package_path = NULL, retired_at = NULL WHERE package_path = ?",
            lost,
        )
        if sweeps and (wrong := list(strays(self._db, listing))):
            with suppress(NotPlaced):  # the publication that follows reports it
                # Copies of a lost catalog, or from after a backup, are known by their packages.
                self._copies.update(())
            with packaging.opened() as packages:
                for path, _ in wrong:
                    packages.remove(path)
                    removed += path in listing.packages
        self._unpin_in_place(at)
        current = {f"{skill_id}/{target}" for skill_id, target in listing.current.items()}
        if elsewhere := [path for path in public(self._db) if path not in current]:
            with packaging.opened() as packages:
                for path in elsewhere:
                    packages.switch_current(path)
        unpublished = [skill_id for (skill_id,) in self._db.execute(_UNPUBLISHED)]
        if again := len(elsewhere) + len(unpublished):
            skills = humanize.count(again, "skill")
            log.warning("published %s again: packages were missing or out of date", skills)
        yield from self._packager.publish_all(unpublished, at)
        return removed

    def _unpin_in_place(self, at: datetime) -> None:
        """Unpin skills that are no longer published as packages."""
        for skill in self._db.rows(_PINNED_IN_PLACE):
            self._packager.publish(
                lambda skill=skill: decisions.unpin_row(  # type: ignore[misc]
                    self._db, skill, iso(at)
                ),
                at,
                trigger="start",
            )
            log.warning(
                "%s/%s is now published in place, so it is no longer pinned to a version: "
                "agents read its folder",
                skill["root"],
                skill["path"],
            )

    # After damage to files

    def check(self, at: datetime, *, deep: bool = False) -> Iterator[list[Key]]:
        """Check the files, sizes and modes of all packages, and with `deep` also the hashes.

        A damaged package is rebuilt from an intact copy of it or from its folder, or removed if the
        folder has changed; a damaged copy is made again from its package. Yield, for each batch,
        the skills that have to be scanned again. Raises sqlite3.Error and OSError.
        """
        paths = list(packaged(self._db)) if self._packager.packaging else []
        for start in range(0, len(paths), BATCH):
            yield self._repaired(at, paths[start : start + BATCH], deep=deep)

    def verify(self, clock: Callable[[], datetime]) -> Iterator[list[Key]]:
        """Hash a tenth of all packages, a batch at a time, the longest unverified first.

        Repairs and yields as `check` does. The caller may do other work between two steps. Raises
        sqlite3.Error and OSError.
        """
        share = -(-len(packaged(self._db)) // SHARE) if self._packager.packaging else 0
        for left in range(share, 0, -STEP):
            if batch := [path for (path,) in self._db.execute(_OLDEST, [min(STEP, left)])]:
                yield self._repaired(clock(), batch, deep=True)

    def _repaired(self, at: datetime, paths: Sequence[str], *, deep: bool) -> list[Key]:
        """Repair the damaged packages of a batch, and their copies; return skills to scan again."""
        assert self._packager.packaging
        packaging = self._packager.packaging
        top = packaging.folder.path
        damaged: dict[str, Damage] = {}
        repaired = 0
        for path in paths:
            files = files_of_package(self._db, path)
            if wrong := list(damages(top, path, files, deep=deep)):
                repaired += 1
                if any(damage.mode is not None for damage in wrong):
                    mode, wrong = wrong[0], with_modes(top, path, files, wrong, deep=deep)
                    if not wrong:
                        log.warning("%s/%s: modes were corrected: %s", top, path, mode)
                if wrong and not self._from_copy(packaging, path):
                    damaged[path] = wrong[0]
        again = self._rebuilt(packaging, damaged, at) if damaged else []
        repaired += self._copies.mend(paths, deep=deep)
        if deep:
            self._db.execute(
                "UPDATE versions SET verified_at = ?"
                " WHERE package_path IN (SELECT value FROM json_each(?))",
                [iso(at), to_json(list(paths))],
            )
        if repaired:
            self._db.execute(
                "UPDATE health SET packages_repaired = packages_repaired + ?", [repaired]
            )
        return again

    def _from_copy(self, packaging: Packaging, path: str) -> bool:
        """Rebuild a damaged or missing package from an intact copy; return whether there is one."""
        files = files_of_package(self._db, path)
        with self._copies.intact(path, files) as copy, packaging.opened() as packages:
            if copy is None:
                return False
            try:
                packages.stage(path, files, files_in(copy))
            except (NotAsJudged, OSError):  # it changes at this moment, or the disk is full
                packages.remove(path)
                return False
        log.warning("%s/%s was rebuilt from a copy", packaging.folder.path, path)
        return True

    def _rebuilt(
        self, packaging: Packaging, damaged: Mapping[str, Damage], at: datetime
    ) -> list[Key]:
        """Rebuild damaged packages, or remove them; return the skills to scan again."""

        def forget() -> list[str]:
            self._db.conn.executemany(
                "UPDATE versions SET package_path = NULL WHERE package_path = ?",
                [(path,) for path in damaged],
            )
            return [path.partition("/")[0] for path in damaged]

        again = self._packager.publish(forget, at, trigger="re-scan")
        made = packaged(self._db)
        with packaging.opened() as packages:
            for path, damage in damaged.items():
                done = (
                    "rebuilt" if path in made else "removed, because its files exist nowhere else"
                )
                log.warning("%s/%s: %s; it was %s", packaging.folder.path, path, damage, done)
                if path not in made:
                    packages.remove(path)
        return again


def _log_foreign(folder: Path, listing: PackagesListing) -> None:
    for path in listing.foreign[:_MOST_LOGGED]:
        log.warning("%s/%s was not made by skilldrop and is left unchanged", folder, path)
    if more := len(listing.foreign[_MOST_LOGGED:]):
        log.warning("%s contains %d more files or folders not made by skilldrop", folder, more)


_OLDEST = """
    SELECT package_path FROM versions
    WHERE package_path IS NOT NULL ORDER BY verified_at LIMIT ?
"""
_PINNED_IN_PLACE = """
    SELECT s.* FROM skills AS s INDEXED BY skills_by_pinned_version_id
    WHERE s.pinned_version_id IS NOT NULL AND NOT has_package(s.path)
"""
_HELD_WITHOUT_PACKAGE = """
    SELECT s.skill_id FROM skills AS s INDEXED BY skills_by_pinned_version_id
    JOIN versions AS v ON v.id = s.pinned_version_id
    WHERE s.pinned_version_id IS NOT NULL AND v.package_path IS NULL
    UNION
    SELECT s.skill_id FROM versions AS n JOIN skills AS s ON s.id = n.skill
    JOIN versions AS v ON v.id IN (s.current_version_id, n.id)
    WHERE n.review IN ('waits', 'rejected') AND v.package_path IS NULL
        AND (s.status IN ('active', 'shadowed') OR s.status = 'pending' AND n.review = 'waits')
"""
# Without the index in the order of the result: the search then reads the table in its own order.
_UNPUBLISHED = f"""
    SELECT DISTINCT s.skill_id FROM skills AS s NOT INDEXED
    WHERE CASE WHEN s.status = 'active' AND has_package(s.path)
        THEN s.package_path IS NOT
                (SELECT package_path FROM versions WHERE id = s.current_version_id)
            OR (SELECT package_path FROM versions WHERE id =
                    (SELECT max(id) FROM versions WHERE skill = s.id)) IS NULL
        ELSE s.package_path IS NOT NULL END
    UNION {_HELD_WITHOUT_PACKAGE}
    ORDER BY 1
"""
