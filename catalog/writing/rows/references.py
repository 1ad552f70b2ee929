"""Rows of references between skills: as written, and resolved to the skills that there are now.

A link leads to a place, so it follows the folder there, whatever its skill is called; a declared
dependency names a skill. Both are resolved again whenever a skill comes, goes or changes there.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from sqlite3 import Connection
from typing import Any

from catalog.database import sql
from catalog.database.queries import Database
from catalog.database.sql import insert
from catalog.model.finding import Finding
from catalog.model.naming import bare_name, skill_id
from catalog.model.publication_findings import DEPENDENCY_MISSING, REFERENCE_BROKEN
from catalog.model.skill import SkillReference
from catalog.text import humanize
from catalog.text.quoting import quoted
from catalog.writing.rows import mapping
from catalog.writing.rows.reference_targets import RESOLVED, Resolver

MOST_FINDINGS = 10
"""Findings of one skill about its references, at most; the last one counts the others."""
CODES = (REFERENCE_BROKEN.code, DEPENDENCY_MISSING.code)

_COLUMNS = SkillReference._fields
_STORED = f"SELECT {sql.columns(_COLUMNS)} FROM skill_references WHERE skill = ? ORDER BY id"


# As they are written


def holds(db: Connection, skill: int, references: Sequence[SkillReference]) -> bool:
    """Return whether the table already contains the references of a skill."""
    return db.execute(_STORED, [skill]).fetchall() == list(map(tuple, references))


def write(db: Connection, references: Mapping[int, Sequence[SkillReference]]) -> None:
    """Replace the references of these skills, unresolved, inside the caller's transaction."""
    db.executemany(
        "DELETE FROM skill_references WHERE skill = ?", [(skill,) for skill in references]
    )
    rows = [(skill, *row) for skill, written in references.items() for row in written]
    sql.write(db, insert, "skill_references", ("skill", *_COLUMNS), rows)


def restored(version: sql.Row) -> tuple[SkillReference, ...]:
    """Return the references of a version; none if an earlier release stored it."""
    stored = json.loads(version["described"]).get("references", ())
    return tuple(SkillReference(*reference) for reference in stored)


# As they are resolved


def resolve(db: Database, skill_ids: Iterable[str]) -> set[str]:
    """Resolve the references of, and to, the skills of these skill_ids, and their findings.

    Return each skill_id of which a reference has changed or may have.
    The cost depends on the number of these references, not of skills. Runs after the decision on
    the active skill, in the same transaction of the caller.
    """
    if not db.execute("SELECT 1 FROM skill_references LIMIT 1").fetchone():
        _update_findings(db, {}, _skills_of(db, skill_ids))
        return set()
    touched = _skills_of(db, skill_ids)
    places = [f"{row['root']}/{row['path']}" for row in touched]
    names = {row["skill_id"] for row in touched} | {_bare_id(row) for row in touched}
    ids = [row["id"] for row in touched]
    parameters = {
        "ids": sql.to_json(ids),
        "places": sql.to_json(places),
        "names": sql.to_json(sorted(names)),
    }
    users = [skill for (skill,) in db.execute(_USERS, parameters)]
    return resolve_skills(db, sorted({*ids, *users}))


def resolve_skills(db: Database, skills: Sequence[int]) -> set[str]:
    """Resolve the references of these skills, and their findings, in the caller's transaction.

    Return their skill_ids.
    """
    resolver = Resolver(db, skills)
    changed = [
        (*resolved, row["id"])
        for row in resolver.rows
        if (resolved := resolver.resolved(row)) != tuple(row[name] for name in RESOLVED)
    ]
    db.conn.executemany(_SET_RESOLVED, changed)
    rows = _skills(db, skills)
    _update_findings(db, _findings(resolver), rows)
    return {row["skill_id"] for row in rows}


def wrong_skills(db: Database) -> list[sql.Row]:
    """Return the skills whose references or findings about them are not as `resolve` makes them."""
    skills = [skill for (skill,) in db.execute(_WITH_REFERENCES, CODES)]
    resolver = Resolver(db, skills)
    wrong = {
        row["skill"]
        for row in resolver.rows
        if resolver.resolved(row) != tuple(row[name] for name in RESOLVED)
    }
    expected, rows = _findings(resolver), _skills(db, skills)
    stored = _stored_findings(db, skills)
    return [
        row
        for row in rows
        if row["id"] in wrong or _wanted_rows(row, expected) != stored.get(row["id"], [])
    ]


def repair(db: Database) -> set[str]:
    """Resolve all that is wrong, in the caller's transaction; return the skill_ids concerned."""
    wrong = wrong_skills(db)
    return resolve_skills(db, [row["id"] for row in wrong]) if wrong else set()


def users_of(db: Database, skill: int) -> tuple[str, ...]:
    """Return the names of the other active skills that refer to a skill, sorted."""
    return tuple(name for (name,) in db.execute(_USED_BY, [skill, skill]))


def _bare_id(row: sql.Row) -> str:
    return skill_id(bare_name(row["name"], row["namespace"]), None, row["path"])


def _skills_of(db: Database, skill_ids: Iterable[str]) -> list[sql.Row]:
    return list(db.query(_OF_SKILL_IDS, [sql.to_json(sorted(set(skill_ids)))]))


def _skills(db: Database, skills: Sequence[int]) -> list[sql.Row]:
    return list(db.query(_OF_IDS, [sql.to_json(list(skills))]))


def _findings(resolver: Resolver) -> dict[int, list[Finding]]:
    """Return the findings of each skill about its references."""
    found: dict[int, list[Finding]] = defaultdict(list)
    for row in resolver.rows:
        problem = resolver.resolved(row).problem
        if not problem:
            continue
        if row["kind"] == "link":
            message = f"{quoted(row['target'])} {problem}."
            kind, fix = REFERENCE_BROKEN, resolver.fix(row)
        else:
            message = f"It declares to need {quoted(row['target'])}, but {problem}."
            kind, fix = DEPENDENCY_MISSING, None
        found[row["skill"]].append(
            kind.at(message, fix=fix, field=row["field"], path=row["file"], line=row["line"])
        )
    return {skill: _first(findings) for skill, findings in found.items()}


def _first(findings: list[Finding]) -> list[Finding]:
    if len(findings) <= MOST_FINDINGS:
        return findings
    *first, last = findings[:MOST_FINDINGS]
    more = humanize.count(len(findings) - MOST_FINDINGS, "more reference")
    return [*first, last._replace(message=f"{last.message} The same is true of {more}.")]


def _wanted_rows(
    skill: sql.Row, findings: Mapping[int, Sequence[Finding]]
) -> list[tuple[Any, ...]]:
    """Return the rows of findings that a skill should have; only active skills have some."""
    found = findings.get(skill["id"], ()) if skill["status"] == "active" else ()
    return [mapping.finding(skill["id"], skill["root"], skill["path"], each) for each in found]


def _stored_findings(db: Database, skills: Sequence[int]) -> dict[int, list[tuple[Any, ...]]]:
    stored: dict[int, list[tuple[Any, ...]]] = defaultdict(list)
    for row in db.execute(_FINDINGS, [sql.to_json(list(skills)), *CODES]):
        stored[row[0]].append(tuple(row))
    return stored


def _update_findings(
    db: Database, findings: Mapping[int, Sequence[Finding]], skills: Sequence[sql.Row]
) -> None:
    """Replace the findings of these skills where they differ."""
    stored = _stored_findings(db, [row["id"] for row in skills])
    outdated, new = [], []
    for row in skills:
        wanted = _wanted_rows(row, findings)
        if wanted != stored.get(row["id"], []):
            outdated.append((row["id"], *CODES))
            new += wanted
    db.conn.executemany("DELETE FROM findings WHERE skill = ? AND code IN (?, ?)", outdated)
    db.conn.executemany(insert("findings", mapping.FINDING_COLUMNS), new)


_OF_SKILL_IDS = """
    SELECT s.id, s.skill_id, s.name, s.namespace, s.root, s.path, s.status
    FROM json_each(?) AS touched
    CROSS JOIN skills AS s INDEXED BY skills_by_skill_id ON s.skill_id = touched.value
"""
_OF_IDS = """
    SELECT s.id, s.skill_id, s.root, s.path, s.status
    FROM json_each(?) AS touched CROSS JOIN skills AS s ON s.id = touched.value
"""
_USERS = """
    SELECT r.skill FROM json_each(:ids) AS to_skill CROSS JOIN skill_references AS r
        INDEXED BY skill_references_by_to_skill ON r.to_skill = to_skill.value
    UNION
    SELECT r.skill FROM json_each(:places) AS place CROSS JOIN skill_references AS r
        INDEXED BY skill_references_by_place ON r.place = place.value
    UNION
    SELECT r.skill FROM json_each(:places) AS place CROSS JOIN skill_references AS r
        INDEXED BY skill_references_by_place
        ON r.place > place.value || '/' AND r.place < place.value || '0'
    UNION
    SELECT r.skill FROM json_each(:names) AS name CROSS JOIN skill_references AS r
        INDEXED BY skill_references_by_wanted ON r.wanted = name.value
"""  # In code points, "0" follows "/".
_SET_RESOLVED = f"""
    UPDATE skill_references SET {", ".join(f"{name} = ?" for name in RESOLVED)} WHERE id = ?
"""
_WITH_REFERENCES = """
    SELECT skill FROM skill_references UNION SELECT skill FROM findings WHERE code IN (?, ?)
"""
_FINDINGS = f"""
    SELECT {", ".join(f'f."{name}"' for name in mapping.FINDING_COLUMNS)}
    FROM json_each(?) AS touched
    CROSS JOIN findings AS f INDEXED BY findings_by_skill ON f.skill = touched.value
    WHERE code IN (?, ?) ORDER BY f.id
"""
_USED_BY = """
    SELECT DISTINCT s.name FROM skill_references AS r JOIN skills AS s ON s.id = r.skill
    WHERE r.to_skill = ? AND s.id != ? AND s.status = 'active' ORDER BY s.name
"""
