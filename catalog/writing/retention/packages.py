"""Collects packages that nobody is given any more; the rows of their versions stay."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlite_utils import Database

from catalog.database import sql, withheld
from catalog.text.times import iso
from catalog.writing.packages.folder import PackageFolder


@dataclass(frozen=True, slots=True)
class Retention:
    """How long the packages of superseded versions are kept, to be read and returned to."""

    versions: int = 10  # of each skill, the published one included
    days: float = 90.0  # since it was superseded
    grace: float = 600.0  # seconds in which nothing goes, for those who are reading it


class PackageCollector:
    """The packages that go, and those of them that could not be removed yet."""

    def __init__(self, db: Database) -> None:
        """Take the catalog, at whose opening all was swept that no version names."""
        self._db = db
        self._left: dict[str, None] = {}  # package_paths

    def collect(self, folder: PackageFolder, retention: Retention, at: datetime) -> int:
        """Remove the packages that need not be kept, and return how many.

        What `current` or a pin refers to stays, and so does the newest version of a skill and what
        an index still names. A version whose package is gone keeps its row, without package_path,
        and its SKILL.md, so that history can be read; only its files cannot be returned to. Raises
        the first OSError once the others are removed; what remains is tried again the next time.
        """
        # Rows first: what a crash leaves lying is named by nobody, and swept at the next start.
        self._left |= dict.fromkeys(_given_up(self._db, retention, at))
        for (package_path,) in self._db.execute(_NAMED_AGAIN, [sql.to_json(list(self._left))]):
            del self._left[package_path]
        if not self._left:
            return 0
        gone, failures = 0, []
        with folder.opened() as packages:
            for package_path in list(self._left):
                try:
                    packages.remove(package_path)
                except OSError as error:
                    failures.append(error)
                    continue
                del self._left[package_path]
                gone += 1
        if failures:
            raise failures[0]
        return gone


def _given_up(db: Database, retention: Retention, at: datetime) -> list[str]:
    """Return the packages that need not be kept, which no version names from now on."""
    # A time to come was noted before the clock was set back: from now on it counts.
    db.execute(
        "UPDATE versions SET retired_at = ?1 WHERE package_path IS NOT NULL AND retired_at > ?1",
        [iso(at)],
    )
    found = db.execute(
        _COLLECTABLE,
        {
            "graced": iso(at - timedelta(seconds=retention.grace)),
            "too_old": iso(at - timedelta(days=retention.days)),
            "most": retention.versions,
        },
    ).fetchall()
    db.execute(
        "UPDATE versions SET package_path = NULL WHERE id IN (SELECT value FROM json_each(?))",
        [sql.to_json([version for version, _ in found])],
    )
    return [package_path for _, package_path in found]


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
               v.id = (SELECT max(id) FROM versions WHERE skill = s.id) AS is_newest,
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
        AND NOT (is_current AND is_listed)
        AND (NOT is_public
             OR NOT is_current AND NOT is_newest AND (place > :most OR retired_at < :too_old))
"""
