"""Rows of publication: which versions have a package, and which of them are public."""

from collections.abc import Iterable, Sequence

from sqlite_utils import Database

from catalog.database import sql
from catalog.writing.rows import fulltext


def set_waiting(db: Database, skills: Iterable[int], reason: str, moment: str) -> None:
    """Let skills wait until they are looked at again; one that is held keeps its place."""
    for skill in skills:
        if not db.execute(_UNSEE_HELD, [skill]).rowcount:
            db.execute(_SET_WAITING, {"skill": skill, "why": reason, "at": moment})
            fulltext.remove(db.conn, [skill])  # as of all that wait to be accepted


def note_packages(db: Database, packages: Sequence[tuple[str, str, int]]) -> None:
    """Write down which packages there are: path, time of verification, and version."""
    db.conn.executemany(
        "UPDATE versions SET package_path = ?, verified_at = ? WHERE id = ?", packages
    )


def note_published(db: Database, contested: set[str], moment: str) -> tuple[list[str], list[str]]:
    """Write down what is public; return the paths of public packages, and what is so no longer."""
    parameters = {"wanted": sql.to_json(sorted(contested)), "at": moment}
    for statement in (_SET_PACKAGES, _SET_RETIRED, _SET_UNRETIRED):
        db.execute(statement, parameters)
    public = [package_path for (package_path,) in db.execute(_TO_SWITCH, parameters).fetchall()]
    gone = contested - {package_path.partition("/")[0] for package_path in public}
    if not gone:
        return public, []
    rows = db.execute(_PACKAGED, {"gone": sql.to_json(sorted(gone))})
    return public, [skill_id for (skill_id,) in rows.fetchall()]


_UNSEE_HELD = """
    UPDATE skills SET seen_digest = NULL, fingerprint = ''
    WHERE id = ? AND pinned_version_id IS NOT NULL
"""
_SET_WAITING = """
    UPDATE skills SET status = 'pending', status_reason = :why, pending_since = :at,
        pending_reason = :why, held_cause = NULL, fingerprint = '',
        last_changed = max(last_changed, :at)
    WHERE id = :skill
"""
_IN_QUESTION = "skill_id IN (SELECT value FROM json_each(:wanted))"
_SET_PACKAGES = f"""
    UPDATE skills SET package_path = new.package_path
    FROM (SELECT s.id, CASE WHEN s.status = 'active' AND has_package(s.path)
                            THEN v.package_path END AS package_path
          FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id
          WHERE s.{_IN_QUESTION}
              AND (s.package_path IS NOT NULL OR v.package_path IS NOT NULL)) AS new
    WHERE skills.id = new.id AND skills.package_path IS NOT new.package_path
"""
_SERVED = """
    (SELECT current_version_id FROM skills WHERE package_path IS NOT NULL AND skill_id IN
        (SELECT value FROM json_each(:wanted)))
"""
_SET_RETIRED = f"""
    UPDATE versions SET retired_at = max(:at, ingested_at) WHERE {_IN_QUESTION}
        AND package_path IS NOT NULL AND +retired_at IS NULL AND id NOT IN {_SERVED}
"""  # The plus keeps SQLite from the index of retired_at: nearly all are not retired.
_SET_UNRETIRED = f"""
    UPDATE versions SET retired_at = NULL WHERE {_IN_QUESTION}
        AND retired_at IS NOT NULL AND id IN {_SERVED}
"""
_PACKAGED = """
    SELECT DISTINCT skill_id FROM versions
    WHERE skill_id IN (SELECT value FROM json_each(:gone)) AND package_path IS NOT NULL
"""
_TO_SWITCH = f"""
    SELECT package_path FROM skills WHERE {_IN_QUESTION} AND package_path IS NOT NULL
"""
