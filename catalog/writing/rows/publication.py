"""Rows of publication: the versions that have a package, and those that are public."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from catalog.database import sql, version_paths, withheld
from catalog.database.queries import Database
from catalog.model.superseded import is_skill_file
from catalog.writing.rows import fulltext


class Published(NamedTuple):
    """Result of a publication: package_paths, and each skill_id that has only retired ones."""

    public: list[str]
    retired: list[str]
    superseded: list[str]  # no longer public, nor named by an index
    restored: list[str]  # public again
    waiting: list[str]  # for a review; agents never had them


def set_waiting(db: Database, skills: Iterable[int], reason: str, moment: str) -> None:
    """Mark skills as pending until the next scan; a held skill keeps its status."""
    for skill in skills:
        if not db.execute(_RESCAN_HELD, [skill]).rowcount:
            db.execute(_SET_WAITING, {"skill": skill, "reason": reason, "at": moment})
            fulltext.remove(db.conn, [skill])  # search finds no pending skill


def note_packages(db: Database, packages: Sequence[tuple[str, str, int]]) -> None:
    """Store the path and the time of verification of each new package, given with its version."""
    db.conn.executemany(
        "UPDATE versions SET package_path = ?, verified_at = ?, retired_at = NULL WHERE id = ?",
        packages,
    )


def note_published(db: Database, contested: set[str], moment: str) -> Published:
    """Store which packages are public; return them, and those whose state is new."""
    parameters = {"contested": sql.to_json(sorted(contested)), "at": moment}
    db.execute(_SET_PACKAGES, parameters)
    superseded = _column(db, _SET_RETIRED, parameters)
    restored = _column(db, _SET_UNRETIRED, parameters)
    if version_paths.are_named(db):  # only a review hides a version
        superseded = _column(db, f"{_PACKAGES} AND NOT {_FIT}", parameters)
        restored = _column(db, f"{_PACKAGES} AND {_FIT}", parameters)
    public = _column(db, _CURRENT_PACKAGES, parameters)
    retired = contested - {package_path.partition("/")[0] for package_path in public}
    if retired:
        retired = set(_column(db, _WITH_PACKAGE, {"retired": sql.to_json(sorted(retired))}))
    waiting = _column(db, f"{_PACKAGES} AND review = 'waits'", parameters)
    return Published(public, sorted(retired), superseded, restored, waiting)


def _column(db: Database, statement: str, parameters: dict[str, str]) -> list[str]:
    return [value for (value,) in db.execute(statement, parameters).fetchall() if value]


def skill_files(db: Database, package_paths: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the packages with the files in each that agents take for a skill."""
    rows = db.execute(_SKILL_FILES, [sql.to_json(package_paths)]).fetchall()
    for package_path, files in groupby(rows, key=lambda row: row[0]):
        yield package_path, [path for _, path in files if is_skill_file(path)]


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
    RETURNING package_path
"""  # The plus keeps SQLite off the index of retired_at: few versions are retired.
_SET_UNRETIRED = f"""
    UPDATE versions SET retired_at = NULL WHERE {_CONTESTED}
        AND retired_at IS NOT NULL AND id IN {_SERVED}
    RETURNING package_path
"""
_WITH_PACKAGE = """
    SELECT DISTINCT skill_id FROM versions
    WHERE skill_id IN (SELECT value FROM json_each(:retired)) AND package_path IS NOT NULL
"""
_PACKAGES = f"""
    SELECT package_path FROM versions WHERE {_CONTESTED} AND package_path IS NOT NULL
"""
_FIT = withheld.MAY_BE_PUBLISHED.format("versions")
_CURRENT_PACKAGES = f"""
    SELECT package_path FROM skills WHERE {_CONTESTED} AND package_path IS NOT NULL
"""
_SKILL_FILES = """
    SELECT v.package_path, f.path
    FROM json_each(?) AS wanted
    JOIN versions AS v INDEXED BY versions_packaged ON v.package_path = wanted.value
    JOIN files AS f ON f.version = v.id
    WHERE v.package_path IS NOT NULL AND f.path LIKE '%skill.md'
    ORDER BY wanted.key
"""
