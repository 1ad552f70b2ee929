"""Deletion of stored content whose folder turned out to lie outside a root."""

import re
from collections.abc import Sequence
from sqlite3 import Connection

from catalog.database import sql
from catalog.model.skill import DESCRIBED, Inventory

_NO_FILES = sql.to_json(Inventory.of(()).as_json())

EMPTY: sql.Row = {
    **{column: empty for column, empty in DESCRIBED.items() if column != "name"},
    "frontmatter": "{}",
    "file_inventory": _NO_FILES,
    "skill_md_hash": None,
    "digest": None,
    "seen_digest": None,
    "package_path": None,
    "pinned_version_id": None,
}
"""What the row of such a skill says: neither its content nor a digest to know it by.

It is held no longer, as nothing is left of what it was held at.
"""


def detail(held_at: str | None) -> str:
    """Return what history says of such a skill, given the version that it was held at."""
    lifted = f", so that it is no longer held at version {held_at}" if held_at else ""
    return f"its path leads out of the root now; its stored content was deleted{lifted}"


GONE = "What the index said was deleted: it named a skill whose path leads out of its root now.\n"
"""What is kept of the text of a prompt index in the place of what it said."""


def purge(db: Connection, skills: Sequence[int]) -> list[str]:
    """Delete the content of all versions of some skills; return the packages to be removed.

    So goes what indexes said that named them. The rows stay of the versions and of what was
    published when, so that history says that they were there. What was searched
    of the skills has been deleted before: the full-text index is written once without it.
    """
    if not skills:
        return []
    wanted = [sql.to_json(list(skills))]
    _purge_index_texts(db, wanted)
    packages = [
        path
        for (path,) in db.execute(
            f"SELECT package_path FROM versions WHERE {_OF} AND package_path IS NOT NULL", wanted
        )
    ]
    db.execute(f"DELETE FROM files WHERE version IN (SELECT id FROM versions WHERE {_OF})", wanted)
    db.execute(
        "UPDATE versions SET skill_md_content = '', frontmatter = '{}', described = '{}',"
        f" file_inventory = ?, package_path = NULL WHERE {_OF}",
        [_NO_FILES, *wanted],
    )
    # A deleted word stays in the index until its pieces are merged.
    db.execute("INSERT INTO skills_fts (skills_fts) VALUES ('optimize')")
    return packages


def _purge_index_texts(db: Connection, wanted: Sequence[str]) -> None:
    """Delete the texts that may quote some skills: they name one, and one was there by then.

    A name is told by its longest run of ASCII letters and digits, which no format escapes; one
    without any is taken to be everywhere.
    """
    named = db.execute(_NAMED, [*wanted, *wanted]).fetchall()
    runs = {max(_RUN.findall(name), key=len, default="") for name, _ in named}
    db.execute(_FORGET_TEXTS, [GONE, min(since for _, since in named), sql.to_json(sorted(runs))])


_RUN = re.compile("[A-Za-z0-9]+")
_NAMED = """
    SELECT name, first_seen FROM skills WHERE id IN (SELECT value FROM json_each(?))
    UNION
    SELECT json_extract(v.described, '$.name'), s.first_seen
    FROM versions AS v JOIN skills AS s ON s.id = v.skill
    WHERE v.skill IN (SELECT value FROM json_each(?))
        AND json_extract(v.described, '$.name') IS NOT NULL
"""
_FORGET_TEXTS = """
    UPDATE index_texts SET text = ?
    WHERE sha256 IN (SELECT sha256 FROM index_builds WHERE published_at >= ?)
        AND EXISTS (SELECT 1 FROM json_each(?) AS run WHERE text LIKE '%' || run.value || '%')
"""
_OF = "skill IN (SELECT value FROM json_each(?))"
