"""Versions that wait for review, with the changes in each; reads only."""

import json
import re
from typing import Any, NamedTuple

from catalog.database.expressions import (
    AWAITING_REVIEW,
    DANGER_SERVED,
    DANGERS,
    MAY_BE_REVIEWED,
    NEWEST,
)
from catalog.database.queries import Database, Row
from catalog.model.errors import NotInCatalog
from catalog.reading.skills import versions
from catalog.text import mentions
from catalog.text.suggestions import closest, few, shown


class Waiting(NamedTuple):
    """Version that waits for review, compared with the version that agents get."""

    row: Row  # of the skill, with version, version_id, published, published_id and waits_since
    facts: dict[str, Any]  # as they are published
    is_cut: bool  # whether it has too much text, or too many hosts, to list all hosts


def find(db: Database, skill: str, version: str | None) -> Row:
    """Return the row of the version that a reviewer means. Raises NotInCatalog.

    skill is its name, bare name or skill_id, or its folder, absolute or in its root. Without a
    version, it is the newest one. One that replaced another in the queue is meant only if it is
    named: few can have seen it.
    """
    values = {"asked": skill.rstrip("/"), "version": version}
    rows = db.rows(_REVIEWED, values)
    if not version:
        rows = [row for row in rows if row["review"] == "waits"] or rows
    rows = [row for row in rows if row["is_folder"]] or rows
    if len(rows) == 1:
        (row,) = rows
        if version or row["review"] != "waits" or not db.row(_REPLACING, row):
            return row
        raise NotInCatalog(
            f"Version {row['version']} of {shown(row['name'])} replaced one that waited. Read its "
            f"changes with `skilldrop review`, then add --version {row['version']}."
        )
    if rows:
        full = list(dict.fromkeys(row["name"] for row in rows))
        folders = [f"{row['root']}/{row['path']}" for row in rows]
        choice = f"name of one: {few(full)}" if len(full) > 1 else f"folder of one: {few(folders)}"
        raise NotInCatalog(f"{len(rows)} skills are meant; give the {choice}.")
    missing = f"version {shown(version)}" if version else "version that needs a review"
    names = [name for (name,) in db.execute(f"SELECT DISTINCT s.name FROM {AWAITING_REVIEW}")]
    if near := closest(skill, names) or names:
        raise NotInCatalog(f"{shown(skill)} has no {missing}. These wait: {few(near)}.")
    raise NotInCatalog(f"{shown(skill)} has no {missing}, and nothing waits for review.")


def waiting(db: Database, *, limit: int = -1, offset: int = 0) -> list[Waiting]:
    """Return the newest versions that wait for review: dangers first, then the longest waiting."""
    values = {"limit": limit, "offset": offset}
    rows = db.rows(_WAITING, values)
    known = {host for (host,) in db.execute(_KNOWN_HOSTS)} if rows else set()
    return [_compared(db, row, known | _NAMESPACES) for row in rows]


def unpublished(db: Database, query: str) -> list[str]:
    """Return the names with a word of a query, of skills that agents get only after a review."""
    words = set(_WORD.findall(query.lower()))
    names = [name for (name,) in db.execute(_UNPUBLISHED)]
    return [name for name in names if words & {*_WORD.findall(name.lower())}]


def dangerous(db: Database, limit: int = -1) -> list[Row]:
    """Return the skills with dangers that wait for review, then those that agents get unapproved.

    Each has id, root, path, skill_id, its dangers, the setting of its root, and whether it waits.
    """
    return db.rows(_DANGEROUS, {"limit": limit})


def outcome(db: Database, version: Row) -> dict[str, Any]:
    """Return a version with its review, and the state of each skill with its content, as JSON."""
    decision = next(db.query(_DECISION, [version["digest"]]))
    return {
        "version": version["version"],
        **decision,
        "skills": db.rows(_SAME_CONTENT, [version["digest"]]),
    }


def of_skill(db: Database, skill: int) -> Row | None:
    """Return the review of a skill's newest version: version, review and the decision.

    None if that version needs no review.
    """
    return db.row(_OF_SKILL, [skill])


def _compared(db: Database, row: Row, known: set[str]) -> Waiting:
    old, new = (versions.files(db, row[key]) for key in ("published_id", "version_id"))
    changes = versions.differing(old, new)
    old_tools, new_tools = (_tools(row[key]) for key in ("published_described", "described"))
    hosts = _hosts(row["described"])
    known = known.union(_hosts(row["published_described"]))
    changed = (*changes["added"], *changes["changed"])
    facts = {
        "skill": row["name"],
        **{key: row[key] for key in ("skill_id", "root", "path", "version", "waits_since")},
        "published_version": row["published"],
        **changes,
        "scripts": [path for path in changed if versions.is_script(new[path])],
        "new_tools": [tool for tool in new_tools if tool not in old_tools],
        "new_hosts": [host for host in hosts if host not in known],
        "findings": db.rows(_SAFETY, [row["id"]]),
    }
    text = sum(file["size"] for file in new.values() if file["is_text"])
    return Waiting(row, facts, text > mentions.MOST_TEXT or len(hosts) == mentions.MOST)


def _hosts(described: str | None) -> list[str]:
    """Return the hosts of the URLs in the files of a version."""
    hosts: list[str] = json.loads(json.loads(described or "{}").get("hosts") or "[]")
    return hosts


def _tools(described: str | None) -> list[str]:
    """Return the tools of a version, as `allowed-tools` names them."""
    return _TOOL.findall(json.loads(described or "{}").get("allowed_tools") or "")


_NAMESPACES = {"www.w3.org", "purl.org", "json-schema.org", "schemas.openxmlformats.org"}
"""Hosts of names in XML and JSON, which nobody asks for."""
_KNOWN_HOSTS = """
    SELECT DISTINCT h.value FROM skills AS s, json_each(s.hosts) AS h WHERE s.status = 'active'
"""
_WORD = re.compile(r"[^\W_]+")
_UNPUBLISHED = f"""
    SELECT DISTINCT s.name FROM {AWAITING_REVIEW} AND s.status = 'pending' ORDER BY s.name
"""
_TOOL = re.compile(r"[^\s,(]+(?:\([^)]*\))?")
_WAITING = f"""
    SELECT s.id, s.skill_id, s.name, s.root, s.path, s.status, w.id AS version_id, w.version,
           w.described, w.ingested_at AS waits_since, p.id AS published_id,
           p.version AS published, p.described AS published_described
    FROM (SELECT v.id, {DANGERS} IS NULL AS is_less FROM {AWAITING_REVIEW}
          ORDER BY is_less, v.id LIMIT :limit OFFSET :offset) AS waiting
    CROSS JOIN version_contents AS w ON w.id = waiting.id
    JOIN skills AS s ON s.id = w.skill
    LEFT JOIN version_contents AS p ON p.id = s.current_version_id
        AND s.status IN ('active', 'shadowed')
    ORDER BY waiting.is_less, w.id
"""
_SKILL = f"""
    s.id, s.root, s.path, s.skill_id, s.name, {DANGERS} AS dangers,
    (SELECT review FROM roots WHERE path = s.root) AS review
"""
_DANGEROUS = f"""
    SELECT {_SKILL}, 1 AS waits FROM {AWAITING_REVIEW} AND {DANGERS} IS NOT NULL
    UNION SELECT {_SKILL}, 0 FROM {DANGER_SERVED}
    ORDER BY waits DESC, root, path LIMIT :limit
"""
_BELOW_ROOT = """
    iif(substr(:asked, 1, length(r.path) + 1) = r.path || '/',
        substr(:asked, length(r.path) + 2), NULL)
"""
_REVIEWED = f"""
    SELECT v.*, s.name, s.root, s.path, :asked IN (s.path, s.root || '/' || s.path) AS is_folder
    FROM skills AS s JOIN versions AS v ON v.skill = s.id
    WHERE s.status != 'removed' AND {MAY_BE_REVIEWED.format("v")}
        AND s.id IN (SELECT id FROM skills WHERE name = :asked
                     UNION SELECT id FROM skills WHERE skill_id = :asked
                     UNION SELECT id FROM skills
                        WHERE bare_name = :asked AND namespace IS NOT NULL
                     UNION SELECT f.id FROM roots AS r CROSS JOIN skills AS f
                        ON f.root = r.path AND f.path IN (:asked, {_BELOW_ROOT})
                     UNION SELECT skill FROM versions WHERE skill_id = :asked AND review = 'waits')
        AND iif(:version IS NULL, v.id = {NEWEST}, v.version = :version)
"""
_REPLACING = """
    SELECT 1 FROM versions WHERE review = 'waits'
        AND id = (SELECT max(id) FROM versions WHERE skill = :skill AND id < :id)
"""
_OF_SKILL = f"""
    SELECT v.version, v.review, v.ingested_at, r.decided_by, r.decided_at, r.why
    FROM skills AS s JOIN versions AS v ON v.id = {NEWEST}
    LEFT JOIN reviews AS r ON r.id = (SELECT max(id) FROM reviews WHERE digest = v.digest)
    WHERE s.id = ? AND v.review IS NOT NULL
"""
_DECISION = """
    SELECT decision, decided_by, decided_at, why FROM reviews WHERE digest = ?
    ORDER BY id DESC LIMIT 1
"""
_SAME_CONTENT = f"""
    SELECT s.skill_id, s.name, s.root, s.path, s.status, p.version AS current_version,
           iif(max(v.id) = {NEWEST}, {DANGERS}, NULL) AS dangers,
           max(v.id) = s.current_version_id AND s.status = 'active' AS is_published
    FROM versions AS v JOIN skills AS s ON s.id = v.skill
    LEFT JOIN versions AS p ON p.id = s.current_version_id
    WHERE v.digest = ? AND v.review IS NOT NULL AND s.status != 'removed'
    GROUP BY s.id ORDER BY s.root, s.path
"""
_SAFETY = """
    SELECT code, severity, path, line, message FROM findings
    WHERE skill = ? AND profile = 'safety'
    ORDER BY severity != 'danger', path, line, id
"""
