"""Rows of publication: the versions that have a package, and those that are public."""

from collections.abc import Iterable, Sequence

from sqlite_utils import Database

from catalog.database import sql, withheld
from catalog.writing.rows import fulltext


def set_waiting(db: Database, skills: Iterable[int], reason: str, moment: str) -> None:
    """Mark skills as pending until the next scan; a held skill keeps its status."""
    for skill in skills:
        if not db.execute(_RESCAN_HELD, [skill]).rowcount:
            db.execute(_SET_WAITING, {"skill": skill, "reason": reason, "at": moment})
            fulltext.remove(db.conn, [skill])  # search finds no pending skill


def note_packages(db: Database, packages: Sequence[tuple[str, str, int]]) -> None:
    """Store the path and the time of verification of each package, given with its version."""
    db.conn.executemany(
        "UPDATE versions SET package_path = ?, verified_at = ? WHERE id = ?", packages
    )


def note_published(db: Database, contested: set[str], moment: str) -> tuple[list[str], list[str]]:
    """Store which packages are public; return them, and each skill_id with only retired ones."""
    parameters = {"contested": sql.to_json(sorted(contested)), "at": moment}
    for statement in (_SET_PACKAGES, _SET_RETIRED, _SET_UNRETIRED):
        db.execute(statement, parameters)
    public = [
        package_path for (package_path,) in db.execute(_CURRENT_PACKAGES, parameters).fetchall()
    ]
    retired = contested - {package_path.partition("/")[0] for package_path in public}
    if not retired:
        return public, []
    rows = db.execute(_WITH_PACKAGE, {"retired": sql.to_json(sorted(retired))})
    return public, [skill_id for (skill_id,) in rows.fetchall()]


_RESCAN_HELD = f"""
    UPDATE skills AS s SET seen_digest = NULL, fingerprint = '' WHERE id = ? AND {withheld.IS_HELD}
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
