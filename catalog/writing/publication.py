"""Rows of publication: missing packages, those that exist, and those that are public."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from catalog.database import sql
from catalog.database.expressions import IS_HELD, IS_WITHHELD, NEWEST
from catalog.database.queries import Database
from catalog.database.writer import Writer
from catalog.writing.packages.builder import PackageJob, group_of
from catalog.writing.packages.inspection import package_files
from catalog.writing.rows import derived


def missing_packages(db: Database, skill_ids: Iterable[str]) -> list[PackageJob]:
    """Return jobs for the missing packages, grouped by archive."""
    rows = db.query(_WITHOUT_PACKAGE, [sql.to_json(sorted(skill_ids))])
    return sorted((_job(db, row) for row in rows), key=group_of)


def _job(db: Database, row: sql.Row) -> PackageJob:
    return PackageJob(
        row["id"],
        row["skill_id"],
        (row["root"], row["path"]),
        row["version_id"],
        f"{row['skill_id']}/{row['version']}",
        package_files(db, row["version_id"]),
        row["same"],
    )


_WITHOUT_PACKAGE = f"""
    SELECT s.id, s.root, s.path, v.id AS version_id, v.skill_id, v.version,
           (SELECT max(n.package_path) FROM versions AS n
            WHERE n.skill = s.id AND n.digest = v.digest) AS same
    FROM json_each(?) AS wanted
    JOIN skills AS s INDEXED BY skills_by_skill_id
        ON s.skill_id = wanted.value
    JOIN versions AS v ON v.id IN ({NEWEST}, s.current_version_id)
    WHERE v.package_path IS NULL AND has_package(s.path)
        AND (s.status = 'active' OR {IS_WITHHELD}
             OR s.status = 'pending' AND v.review = 'waits')
        AND (v.digest IS s.seen_digest OR NOT {IS_HELD})
"""


class Published(NamedTuple):
    """Result of a publication: package_paths, and each skill_id that has only retired ones."""

    public: list[str]
    retired: list[str]


def set_waiting(db: Writer, skills: Iterable[int], reason: str, moment: str) -> None:
    """Mark skills as pending until the next scan; a held skill keeps its status."""
    for skill in skills:
        if not db.execute(_RESCAN_HELD, [skill]).rowcount:
            db.execute(_SET_WAITING, {"skill": skill, "reason": reason, "at": moment})
            derived.write(db, [skill])  # search finds no pending skill


def note_packages(db: Database, packages: Sequence[tuple[str, str, int]]) -> None:
    """Store the path and the time of verification of each new package, given with its version."""
    db.conn.executemany(
        "UPDATE versions SET package_path = ?, verified_at = ?, retired_at = NULL WHERE id = ?",
        packages,
    )


def note_published(db: Database, contested: set[str], moment: str) -> Published:
    """Store which packages are public, and return them."""
    parameters = {"contested": sql.to_json(sorted(contested)), "at": moment}
    db.execute(_SET_PACKAGES, parameters)
    db.execute(_SET_RETIRED, parameters)
    db.execute(_SET_UNRETIRED, parameters)
    public = _column(db, _CURRENT_PACKAGES, parameters)
    retired = contested - {package_path.partition("/")[0] for package_path in public}
    if retired:
        retired = set(_column(db, _WITH_PACKAGE, {"retired": sql.to_json(sorted(retired))}))
    return Published(public, sorted(retired))


def _column(db: Database, statement: str, parameters: dict[str, str]) -> list[str]:
    return [value for (value,) in db.execute(statement, parameters).fetchall() if value]


_RESCAN_HELD = f"""
    UPDATE skills AS s SET seen_digest = NULL, fingerprint = '' WHERE id = ? AND {IS_HELD}
"""
_SET_WAITING = """
    UPDATE skills SET status = 'pending', status_reason = :reason, pending_since = :at,
        pending_reason = :reason, held_cause = NULL, fingerprint = '',
        last_changed = max(last_changed, :at)
    WHERE id = :skill
"""
_CONTESTED = "skill_id IN (SELECT value FROM json_each(:contested))"
_SET_PACKAGES = f"""
    UPDATE skills SET package_path = new.package_path
    FROM (SELECT s.id, CASE WHEN s.status = 'active' AND has_package(s.path)
                            THEN v.package_path END AS package_path
          FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id
          WHERE s.{_CONTESTED}
              AND (s.package_path IS NOT NULL OR v.package_path IS NOT NULL)) AS new
    WHERE skills.id = new.id AND skills.package_path IS NOT new.package_path
"""
_SERVED = """
    (SELECT current_version_id FROM skills WHERE package_path IS NOT NULL AND skill_id IN
        (SELECT value FROM json_each(:contested)))
"""
_SET_RETIRED = f"""
    UPDATE versions SET retired_at = max(:at, ingested_at) WHERE {_CONTESTED}
        AND package_path IS NOT NULL AND +retired_at IS NULL AND id NOT IN {_SERVED}
"""  # The plus keeps SQLite off the index of retired_at: few versions are retired.
_SET_UNRETIRED = f"""
    UPDATE versions SET retired_at = NULL WHERE {_CONTESTED}
        AND retired_at IS NOT NULL AND id IN {_SERVED}
"""
_WITH_PACKAGE = """
    SELECT DISTINCT skill_id FROM versions
    WHERE skill_id IN (SELECT value FROM json_each(:retired)) AND package_path IS NOT NULL
"""
_CURRENT_PACKAGES = f"""
    SELECT package_path FROM skills WHERE {_CONTESTED} AND package_path IS NOT NULL
"""
