"""Rows of what lists of skills are filtered by: tags, tools and hosts of each version."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from sqlite3 import Connection
from typing import NamedTuple

from catalog.database.ddl.facets import MARK_MISSING
from catalog.database.queries import Database
from catalog.database.sql import Row, Transaction, insert, to_json, write
from catalog.model.skill import SkillRecord
from catalog.text import hosts

BATCH = 500
"""Versions whose facets are read in one transaction."""
MOST_VALUES = 200
"""Values of one kind that are kept of a version."""
MOST_TEXT = 2_000_000
"""Characters of a version that are searched for hosts."""
LONGEST_VALUE = 253
"""Characters of a value, as many as of a host; longer tags are no filter."""


class Facets(NamedTuple):
    """What a version is filtered by."""

    tag: tuple[str, ...]
    tool: tuple[str, ...]
    host: tuple[str, ...]


def of_record(record: SkillRecord) -> Facets:
    """Return the facets of accepted content."""
    texts = [record.skill_md_content, *(file.text for file in record.files if file.text)]
    return _facets(record.tags, record.allowed_tools, texts)


def of_version(version: Row, texts: Iterable[str | None]) -> Facets:
    """Return the facets of a row of `versions`, given the texts of its other files."""
    described = json.loads(version["described"])
    return _facets(
        json.loads(described.get("tags") or "[]"),
        described.get("allowed_tools"),
        [version["skill_md_content"], *filter(None, texts)],
    )


def replace(db: Connection, facets: Mapping[int, Facets]) -> None:
    """Replace the facets of versions, inside the caller's transaction. Raises sqlite3.Error."""
    db.executemany("DELETE FROM version_facets WHERE version = ?", [(v,) for v in facets])
    rows = [
        (version, name, value)
        for version, found in facets.items()
        for name, values in zip(Facets._fields, found, strict=True)
        for value in values
    ]
    write(db, insert, "version_facets", ("version", "facet", "value"), rows)


def mark_missing(db: Database) -> None:
    """Mark all versions without facets, for the next start. Raises sqlite3.Error."""
    db.execute(MARK_MISSING.format("id NOT IN (SELECT version FROM version_facets)"))


def add_missing(db: Database, transaction: Transaction) -> None:
    """Store the facets that an earlier release or a recovery left out. Raises sqlite3.Error."""
    while ids := [version for (version,) in db.execute(_MISSING, [BATCH])]:
        with transaction():
            replace(db.conn, _stored(db, ids))


def wrong_skills(db: Database) -> list[Row]:
    """Return the skills whose facets are not those of their version; the missing ones are known."""
    rows = list(db.query(_CURRENT))
    wrong = []
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        ids = [row["version"] for row in batch]
        expected = _stored(db, ids)
        kept: dict[int, set[tuple[str, str]]] = {version: set() for version in ids}
        for version, facet, value in db.execute(_KEPT, [to_json(ids)]):
            kept[version].add((facet, value))
        wrong += [
            row for row in batch if kept[row["version"]] not in ({_NOT_READ}, _pairs(expected, row))
        ]
    return wrong


def repair(db: Database) -> None:
    """Rewrite the facets that are wrong, in the caller's transaction. Raises sqlite3.Error."""
    wrong = [row["version"] for row in wrong_skills(db)]
    replace(db.conn, _stored(db, wrong))


def _pairs(expected: Mapping[int, Facets], row: Row) -> set[tuple[str, str]]:
    found = expected.get(row["version"], Facets((), (), ()))
    return {
        (name, value)
        for name, values in zip(Facets._fields, found, strict=True)
        for value in values
    }


def _stored(db: Database, versions: Sequence[int]) -> dict[int, Facets]:
    """Return the facets of stored versions, read from their texts."""
    return {
        row["id"]: of_version(row, (text for (text,) in db.execute(_TEXTS, [row["id"]])))
        for row in db.query(_VERSIONS, [to_json(list(versions))])
    }


def _facets(tags: Iterable[str], allowed_tools: str | None, texts: Iterable[str]) -> Facets:
    found: set[str] = set()
    room = MOST_TEXT
    for text in texts:
        found |= hosts.of_text(text[:room])
        room = max(room - len(text), 0)
    tools = _TOOL.findall(_BRACKETS.sub(" ", allowed_tools or ""))
    reached = sorted(host for host in found if not _NOWHERE.search(host))
    return Facets(_distinct(tags), _distinct(tools), _distinct(reached))


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    """Return the values that differ in more than case, in their order."""
    known: dict[str, str] = {}
    for value in values:
        if value and len(value) <= LONGEST_VALUE and len(known) < MOST_VALUES:
            known.setdefault(value.lower(), value)
    return tuple(known.values())


_NOWHERE = re.compile(r"^[^.]*$|^127\.|(?:^|\.)example(?:\.(?:com|net|org))?$")
_BRACKETS = re.compile(r"\([^)]*\)?")
_TOOL = re.compile(r"[^\s,]+")
_NOT_READ = ("missing", "")
_MISSING = "SELECT version FROM version_facets WHERE facet = 'missing' LIMIT ?"
_CURRENT = """
    SELECT current_version_id AS version, root, path FROM skills
    WHERE status IN ('active', 'shadowed') AND current_version_id IS NOT NULL
"""
_KEPT = """
    SELECT f.version, f.facet, f.value FROM json_each(?) AS wanted
    CROSS JOIN version_facets AS f ON f.version = wanted.value
"""
_VERSIONS = """
    SELECT v.id, v.described, v.skill_md_content FROM json_each(?) AS wanted
    CROSS JOIN version_contents AS v ON v.id = wanted.value
"""
_TEXTS = "SELECT text FROM file_contents WHERE version = ? AND text IS NOT NULL ORDER BY path"
