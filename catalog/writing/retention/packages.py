"""Removal of packages that are no longer published; the rows of their versions stay."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from catalog.database import sql, withheld
from catalog.database.queries import Database
from catalog.text.times import iso
from catalog.writing.packages.folder import PackageFolder


@dataclass(frozen=True, slots=True)
class Retention:
    """Limits for packages of superseded versions, which stay for readers and rollback."""

    versions: int = 10  # of each skill, the published one included
    days: float = 90.0  # since it was superseded
    grace: float = 600.0  # seconds in which nothing is removed, for current readers


class PackageCollector:
    """Collector of packages past retention, which retries failed removals."""

    def __init__(self, db: Database) -> None:
        """Take the catalog; opening it has removed all packages that no version names."""
        self._db = db
        self._pending: dict[str, None] = {}  # package_paths

    def collect(self, folder: PackageFolder, retention: Retention, at: datetime) -> int:
        """Remove the packages past retention, and return their number.

        The current, pinned and newest version of a skill stay, a newest one also while it waits
        for review, and so do versions that an index still names. A version without its package
        keeps its row, with its SKILL.md but without package_path: it can be read, but not
        published again. Raises the first OSError after trying all; the next call retries the
        failed ones.
        """
        # Rows first: after a crash, no version names the remaining packages, and the next start
        # removes them.
        self._pending |= dict.fromkeys(_forget_superseded(self._db, retention, at))
        for (package_path,) in self._db.execute(_NAMED_AGAIN, [sql.to_json(list(self._pending))]):
            del self._pending[package_path]
        if not self._pending:
            return 0
        removed, failures = 0, []
        with folder.opened() as packages:
            for package_path in list(self._pending):
                try:
                    packages.remove(package_path)
                except OSError as error:
                    failures.append(error)
                    continue
                del self._pending[package_path]
                removed += 1
        if failures:
            raise failures[0]
        return removed


def _forget_superseded(db: Database, retention: Retention, at: datetime) -> list[str]:
    """Clear the package paths of versions past retention, and return those paths."""
    # A time in the future dates from before the clock was set back; count from now.
    db.execute(
        "UPDATE versions SET retired_at = ?1 WHERE package_path IS NOT NULL AND retired_at > ?1",
        [iso(at)],
    )
    rows = db.execute(
        _COLLECTABLE,
        {
            "graced": iso(at - timedelta(seconds=retention.grace)),
            "too_old": iso(at - timedelta(days=retention.days)),
            "most": retention.versions,
        },
    ).fetchall()
    db.execute(
        "UPDATE versions SET package_path = NULL WHERE id IN (SELECT value FROM json_each(?))",
        [sql.to_json([version for version, _ in rows])],
    )
    return [package_path for _, package_path in rows]


_NAMED_AGAIN = """
    SELECT package_path FROM versions
    WHERE package_path IS NOT NULL AND package_path IN (SELECT value FROM json_each(?))
"""
_COLLECTABLE = f"""
    WITH kept AS (
        SELECT v.id, v.package_path, v.retired_at,
               s.status = 'active' AND s.package_path IS NOT NULL
                   OR {withheld.IS_WITHHELD} AS is_public,
               v.id IS s.current_version_id AS is_current,
               v.id IS s.pinned_version_id AS is_pinned,
               v.id = {withheld.NEWEST} AS is_newest,
               ifnull(v.review, '') = 'waits' AND s.status != 'removed' AS waits,
               row_number() OVER (PARTITION BY v.skill ORDER BY v.id DESC) AS place,
               EXISTS (SELECT 1 FROM index_entries AS e WHERE e.skill = s.id) AS is_listed,
               EXISTS (SELECT 1 FROM index_entries AS e WHERE e.skill = s.id
                       AND e.package_path = v.package_path) AS is_named
        FROM versions AS v JOIN skills AS s ON s.id = v.skill
        WHERE v.package_path IS NOT NULL
            AND v.skill IN (SELECT skill FROM versions
                            WHERE package_path IS NOT NULL AND retired_at < :graced)
    )
    SELECT id, package_path FROM kept
    WHERE retired_at < :graced AND NOT is_pinned AND NOT is_named
        AND NOT (waits AND is_newest)
        AND NOT (is_current AND is_listed)
        AND (NOT is_public
             OR NOT is_current AND NOT is_newest AND (place > :most OR retired_at < :too_old))
"""
