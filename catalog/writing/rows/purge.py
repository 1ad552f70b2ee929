"""Deletion of stored content whose folder is now outside its root."""

import re
from collections.abc import Sequence

from catalog.database import sql
from catalog.database.writer import Writer
from catalog.model import fields
from catalog.model.skill import Inventory
from catalog.writing.rows import fulltext, texts

_NO_FILES = sql.to_json(Inventory.of(()).as_json())

EMPTY: sql.Row = {
    **{column: empty for column, empty in fields.EMPTY.items() if column != "name"},
    "frontmatter": "{}",
    "file_inventory": _NO_FILES,
    "skill_md_hash": None,
    "digest": None,
    "seen_digest": None,
    "package_path": None,
    "pinned_version_id": None,
}
"""Columns of such a skill, without its content and its digests.

It is no longer pinned, because the content of the pinned version is deleted.
"""


def detail(pinned_to: str | None) -> str:
    """Return the detail of such a removal, given the version that the skill was pinned to."""
    unpinned = f", so it is no longer pinned to version {pinned_to}" if pinned_to else ""
    return f"its path now leads out of the root; its stored content was deleted{unpinned}"


DELETED_TEXT = "This text was deleted: it named a skill whose path now leads out of its root.\n"
"""Replacement of the text of a prompt index."""


def purge(db: Writer, skills: Sequence[int]) -> list[str]:
    """Delete the content of all versions of some skills; return the packages to remove.

    Also deletes index texts that named them. The rows of versions and publications stay, so
    history still records that they existed. The caller has already deleted the searchable text,
    so the full-text index is optimized without it.
    """
    if not skills:
        return []
    parameters = [sql.to_json(list(skills))]
    _purge_index_texts(db, parameters)
    packages = [
        path
        for (path,) in db.execute(
            f"SELECT package_path FROM versions WHERE {_OF} AND package_path IS NOT NULL",
            parameters,
        )
    ]
    versions = [v for (v,) in db.execute(f"SELECT id FROM versions WHERE {_OF}", parameters)]
    held = texts.of_versions(db, versions)
    db.execute(
        f"DELETE FROM files WHERE version IN (SELECT id FROM versions WHERE {_OF})", parameters
    )
    db.execute(
        "UPDATE versions SET frontmatter = '{}', described = '{}', text_id = NULL,"
        f" file_inventory = ?, package_path = NULL WHERE {_OF}",
        [_NO_FILES, *parameters],
    )
    texts.forget(db, held)
    # A deleted word stays in the full-text index until its segments are merged.
    fulltext.optimize(db)
    return packages


def _purge_index_texts(db: Writer, parameters: Sequence[str]) -> None:
    """Delete the texts that may quote some skills: later texts that contain one of their names.

    A name is found by its longest run of ASCII letters and digits, which no format escapes. A name
    without such a run matches every text.
    """
    named = db.execute(_NAMED, [*parameters, *parameters]).fetchall()
    runs = {max(_RUN.findall(name), key=len, default="") for name, _ in named}
    db.execute(
        _FORGET_TEXTS, [DELETED_TEXT, min(since for _, since in named), sql.to_json(sorted(runs))]
    )


_RUN = re.compile("[A-Za-z0-9]+")
_NAMED = """
    SELECT name, first_seen FROM skills WHERE id IN (SELECT value FROM json_each(?))
    UNION
    SELECT json_extract(v.described, '$.name'), s.first_seen
    FROM version_contents AS v JOIN skills AS s ON s.id = v.skill
    WHERE v.skill IN (SELECT value FROM json_each(?))
        AND json_extract(v.described, '$.name') IS NOT NULL
"""
_FORGET_TEXTS = """
    UPDATE index_texts SET text = ?
    WHERE sha256 IN (SELECT sha256 FROM index_builds WHERE published_at >= ?)
        AND EXISTS (SELECT 1 FROM json_each(?) AS run WHERE text LIKE '%' || run.value || '%')
"""
_OF = "skill IN (SELECT value FROM json_each(?))"
