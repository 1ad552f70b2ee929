"""Read-only queries behind the pages of the site."""

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeAlias

from catalog.database import stored_health
from catalog.database.queries import Database, Reader
from catalog.database.sql import Row, to_json
from catalog.model.publication_findings import NAME_CONFUSABLE
from catalog.reading import index_views
from catalog.reading import status as reading_status
from catalog.reading.filters import Filters
from catalog.reading.versions import restored

Catalog: TypeAlias = Database
"""Open catalog, for modules that only pass it on."""

PAGE = 50
"""Rows of a list on one page."""
GROUPS = {"plugin": 12, "tag": 20}
"""Values offered by a filter, at most."""


def over(connection: sqlite3.Connection) -> Catalog:
    """Return the catalog on a connection that the caller opened and closes."""
    return Reader(connection)


# Skills


def skills(db: Catalog, filters: Filters, page: int = 1) -> tuple[list[Row], int]:
    """Return a page of skills by name, and the number of skills on all pages."""
    values = filters.values
    listed = f"FROM skills AS s WHERE {filters.condition}"
    (total,) = db.execute(f"SELECT count(*) {listed}", values).fetchone()
    rows = db.query(
        f"SELECT {_CARD} {listed} ORDER BY s.name, s.id LIMIT :limit OFFSET :offset",
        values | {"limit": PAGE, "offset": (page - 1) * PAGE},
    )
    return list(rows), int(total)


def groups(db: Catalog) -> dict[str, list[Row]]:
    """Return the roots, the statuses, and levels, plugins and tags of the active skills.

    All but the roots have their counts.
    """
    return {
        "root": list(
            db.query("SELECT path AS value FROM roots WHERE configured ORDER BY position, path")
        ),
        "status": list(
            db.query(
                "SELECT status AS value, count(*) AS n FROM skills GROUP BY status ORDER BY n DESC"
            )
        ),
        "level": list(
            db.query(
                "SELECT level AS value, count(*) AS n FROM skills WHERE status = 'active'"
                " GROUP BY level_rank, level ORDER BY level_rank"
            )
        ),
        "plugin": list(
            db.query(
                "SELECT plugin AS value, count(*) AS n FROM skills"
                " WHERE status = 'active' AND plugin IS NOT NULL"
                " GROUP BY plugin ORDER BY n DESC, plugin LIMIT ?",
                [GROUPS["plugin"]],
            )
        ),
        "tag": list(
            db.query(
                "SELECT t.value AS value, count(*) AS n FROM skills AS s, json_each(s.tags) AS t"
                " WHERE s.status = 'active' AND s.tags != '[]'"
                " GROUP BY t.value ORDER BY n DESC, t.value LIMIT ?",
                [GROUPS["tag"]],
            )
        ),
    }


def skill(db: Catalog, skill_id: str, row: int | None = None) -> Row | None:
    """Return the skill with a skill_id, the active one if there is one, or the given row of it.

    None where no folder ever had it. `is_newest` is 0 where the folder holds other content than the
    current version; the findings are then about the folder.
    """
    chosen = "s.id = :row" if row else "TRUE"
    rows = db.query(
        f"SELECT s.*, {_IS_NEWEST} AS is_newest, v.version, v.skill_md_content, v.ingested_at,"
        " v.git_commit, (SELECT url FROM mirrors WHERE root = s.root) AS repository,"
        " (SELECT path FROM mirrors WHERE root = s.root) AS repository_path,"
        f" EXISTS ({_LOOKS_ALIKE}) AS looks_alike,"
        " (SELECT body FROM searched_texts WHERE id = s.id) AS body"
        " FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id"
        f" WHERE s.skill_id = :skill_id AND {chosen} ORDER BY CASE s.status WHEN 'active' THEN 0"
        " WHEN 'pending' THEN 1 WHEN 'rejected' THEN 2 WHEN 'shadowed' THEN 3 ELSE 4 END,"
        " s.last_changed DESC, s.id LIMIT 1",
        {"skill_id": skill_id, "row": row},
    )
    return next(rows, None)


def as_of(db: Catalog, skill: Row, version: str) -> Row | None:
    """Return a skill as it was in one of its versions; None where that is unknown.

    Its `is_newest` is 0, because the present findings are not those of that version.
    """
    for row in db.query(
        "SELECT * FROM versions WHERE skill = ? AND version = ? AND described <> '{}'",
        [skill["id"], version],
    ):
        return (
            skill
            | restored(row)
            | {
                "skill_id": skill["skill_id"],
                "package_path": row["package_path"],
                "is_newest": 0,
                "version": version,
                "skill_md_content": row["skill_md_content"],
                "ingested_at": row["ingested_at"],
            }
        )
    return None


def folders_of(db: Catalog, skill_id: str, but: int = 0) -> list[Row]:
    """Return the folders with a skill_id, but for one skill."""
    return list(
        db.query(
            "SELECT id, skill_id, name, status, status_reason, is_conflict, level, root,"
            " path FROM skills WHERE skill_id = ? AND id != ? ORDER BY status, root, path",
            [skill_id, but],
        )
    )


def left_out_files(db: Catalog, skill: int) -> list[Row]:
    """Return the files in a skill's folder that are part of no version, by path."""
    return list(
        db.query(
            "SELECT path, reason, detail FROM left_out_files WHERE skill = ? ORDER BY path", [skill]
        )
    )


def findings(db: Catalog, skill: int) -> list[Row]:
    """Return the findings of a skill, worst first, then by file and line."""
    return list(
        db.query(
            f"SELECT * FROM findings WHERE skill = ? ORDER BY {_WORST_FIRST}, path, line, id",
            [skill],
        )
    )


def files(db: Catalog, version: int) -> list[Row]:
    """Return the files of a version, without their text."""
    return list(
        db.query(
            "SELECT path, kind, size, sha256, mode, is_text FROM files WHERE version = ?"
            " ORDER BY path",
            [version],
        )
    )


def file(db: Catalog, version: int, path: str) -> Row | None:
    """Return one file of a version with its text, if the catalog has it."""
    rows = db.query(
        "SELECT f.path, f.kind, f.size, f.sha256, f.mode, f.is_text, CASE f.kind"
        " WHEN 'skill_md' THEN v.skill_md_content ELSE f.text END AS text FROM files AS f"
        " JOIN versions AS v ON v.id = f.version WHERE f.version = ? AND f.path = ?",
        [version, path],
    )
    return next(rows, None)


def versions(db: Catalog, skill: int) -> list[Row]:
    """Return the versions of a skill, newest first."""
    return list(
        db.query(
            "SELECT id, version, ingested_at, superseded_at, digest, file_inventory, review,"
            " git_commit"
            " FROM versions"
            " WHERE skill = ? ORDER BY ingested_at DESC, id DESC",
            [skill],
        )
    )


def version(db: Catalog, skill_id: str, name: str) -> Row | None:
    """Return a version by its name, which is unique within a skill_id."""
    return next(
        db.query(
            "SELECT id, skill, version, ingested_at, superseded_at FROM versions"
            " WHERE skill_id = ? AND version = ?",
            [skill_id, name],
        ),
        None,
    )


def text(db: Catalog, version: int, path: str) -> str | None:
    """Return the text of one file of a version, if the catalog has it."""
    row = file(db, version, path)
    return row["text"] if row else None


# The whole catalog


def overview(db: Catalog, catalog: Path) -> dict[str, Any]:
    """Return the data of the front page: counts, latest changes, indexes and health.

    catalog is the path of the catalog, which may have a health file beside it.
    """
    return {
        "counts": reading_status.counts(db),
        "files": db.execute("SELECT count(*) FROM files").fetchone()[0],
        "not_skills": db.execute("SELECT count(*) FROM findings WHERE skill IS NULL").fetchone()[0],
        "severities": dict(db.execute("SELECT severity, count(*) FROM findings GROUP BY severity")),
        "recent": recent(db, 8),
        "indexes": index_views.indexes(db),
        **stored_health.load(db, catalog),
    }


def recent(db: Catalog, limit: int, before: int | None = None) -> list[Row]:
    """Return the latest changes, newest first; `before` is the id of the last one shown."""
    return list(
        db.query(
            "SELECT i.id, i.outcome, i.detail, i.started_at, i.took_ms, i.steps, i.root, i.path,"
            ' i."trigger" AS noticed_by, i.skill, s.skill_id, coalesce(s.name, i.path) AS name,'
            " s.status, v.version FROM ingestions AS i LEFT JOIN skills AS s ON s.id = i.skill"
            " LEFT JOIN versions AS v ON v.id = i.version"
            " WHERE i.id < coalesce(:before, i.id + 1) ORDER BY i.id DESC LIMIT :limit",
            {"limit": limit, "before": before},
        )
    )


def scans(db: Catalog, limit: int) -> list[Row]:
    """Return the latest full scans, newest first."""
    return list(db.query("SELECT * FROM scans ORDER BY id DESC LIMIT ?", [limit]))


def finding_codes(db: Catalog) -> list[Row]:
    """Return each kind of present finding, worst and most frequent first."""
    return list(
        db.query(
            "WITH kinds AS (SELECT code, severity, profile, count(*) AS n,"
            " count(DISTINCT skill) AS skills, min(id) AS example"
            " FROM findings GROUP BY code, severity, profile)"
            # The message and the fix of a kind are those of its oldest finding.
            " SELECT k.*, f.message, f.fix FROM kinds AS k JOIN findings AS f ON f.id = k.example"
            f" ORDER BY {_WORST_FIRST.replace('severity', 'k.severity')}, k.n DESC, k.code"
        )
    )


def not_skills(db: Catalog, page: int = 1) -> list[Row]:
    """Return a page of the findings about what lies in the roots and is part of no skill."""
    return list(
        db.query(
            "SELECT root, folder, path, code, severity, message, fix FROM findings"
            " WHERE skill IS NULL ORDER BY root, folder, id LIMIT ? OFFSET ?",
            [PAGE, (page - 1) * PAGE],
        )
    )


def findings_of(db: Catalog, code: str, page: int = 1) -> list[Row]:
    """Return a page of the findings of one kind, each with its skill."""
    return list(
        db.query(
            f"SELECT f.*, s.skill_id, s.name, s.status, {_IS_NEWEST} AS is_newest, EXISTS"
            " (SELECT 1 FROM files WHERE version = s.current_version_id AND path = f.path)"
            " AS is_published"
            " FROM findings AS f LEFT JOIN skills AS s ON s.id = f.skill WHERE f.code = :code"
            " ORDER BY s.name, f.root, f.folder, f.path, f.line, f.id LIMIT :limit OFFSET :offset",
            {"code": code, "limit": PAGE, "offset": (page - 1) * PAGE},
        )
    )


_LOOKS_ALIKE = f"SELECT 1 FROM findings WHERE skill = s.id AND code = '{NAME_CONFUSABLE.code}'"
_CARD = (
    "s.id, s.skill_id, s.name, s.description, s.status, s.status_reason, s.level, s.plugin,"
    " s.license, s.tags, s.spec_valid, s.estimated_tokens, s.last_changed,"
    f" EXISTS ({_LOOKS_ALIKE}) AS looks_alike"
)
_IS_NEWEST = "(s.digest IS NULL OR s.seen_digest IS NULL OR s.seen_digest = s.digest)"
_WORST_FIRST = "CASE severity WHEN 'error' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END"


def alike(db: Catalog, skill_ids: Iterable[str]) -> set[str]:
    """Return the skill_ids of active skills whose names look like another's."""
    return {
        row["skill_id"]
        for row in db.query(
            "SELECT s.skill_id FROM json_each(?) AS wanted JOIN skills AS s"
            f" ON s.skill_id = wanted.value AND s.status = 'active' WHERE EXISTS ({_LOOKS_ALIKE})",
            [to_json(list(skill_ids))],
        )
    }
