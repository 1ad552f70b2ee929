"""The rows of the full-text search that are not what the accepted skills say, and their repair."""

from collections.abc import Sequence
from typing import NamedTuple

from sqlite_utils import Database

from catalog.writing.rows import fulltext, mapping


class WrongRow(NamedTuple):
    """A skill whose row in the search is missing, outdated, or should not be there."""

    skill: int
    root: str
    path: str
    version: int | None  # whose text should be there; None where none should
    is_indexed: bool  # the index over the texts has it exactly where the table has


def wrong_rows(db: Database) -> list[WrongRow]:
    """Return the skills of which the search has something else than their accepted content."""
    return [WrongRow(*found) for found in db.execute(_WRONG)]


def repair(db: Database, wrong: Sequence[WrongRow]) -> None:
    """Write these rows again from the versions, inside the caller's transaction.

    Raises sqlite3.Error.
    """
    if not all(row.is_indexed for row in wrong):
        fulltext.rebuild(db.conn)  # first, as only what is indexed can be taken from the index
    fulltext.remove(db.conn, [row.skill for row in wrong])
    fulltext.replace(
        db.conn,
        [text for row in wrong if row.version for text in _text(db, row.skill, row.version)],
    )


def _text(db: Database, skill: int, version: int) -> list[mapping.SearchDocument]:
    """Return what is searched of a version; nothing where an earlier release did not note it."""
    paths = [
        path
        for (path,) in db.execute("SELECT path FROM files WHERE version = ? ORDER BY id", [version])
    ]
    return [
        mapping.restored_text(skill, row, paths)
        for row in db.query("SELECT * FROM versions WHERE id = ? AND described != '{}'", [version])
    ]


_WRONG = """
    SELECT id, root, path, version, has_text = is_indexed FROM (
        SELECT s.id, s.root, s.path, s.description, t.description AS searched,
               CASE WHEN s.status IN ('active', 'shadowed') THEN s.current_version_id END
                   AS version,
               t.version AS has_version, t.id IS NOT NULL AS has_text,
               EXISTS (SELECT 1 FROM skills_fts_docsize WHERE id = s.id) AS is_indexed
        FROM skills AS s LEFT JOIN skill_text AS t ON t.id = s.id)
    WHERE version IS NOT has_version OR searched != description OR has_text != is_indexed
    ORDER BY id
"""
