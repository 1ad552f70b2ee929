"""Full-text rows that differ from the accepted skills, and their repair."""

from collections.abc import Sequence
from typing import NamedTuple

from catalog.database.queries import Database
from catalog.writing.rows import fulltext, mapping


class WrongRow(NamedTuple):
    """A skill whose full-text row is missing, outdated or superfluous."""

    skill: int
    root: str
    path: str
    version: int | None  # the version whose text belongs there; None for no text
    is_indexed: bool  # whether the full-text tables agree with the tables below them


def wrong_rows(db: Database) -> list[WrongRow]:
    """Return the skills whose full-text row differs from their accepted content."""
    return [WrongRow(*row) for row in db.execute(_WRONG)]


def repair(db: Database, wrong: Sequence[WrongRow]) -> None:
    """Rewrite these rows from the versions, inside the caller's transaction.

    Raises sqlite3.Error.
    """
    if not all(row.is_indexed for row in wrong):
        fulltext.rebuild(db.conn)  # first: a row must be indexed before it can be removed
    fulltext.remove(db.conn, [row.skill for row in wrong])
    fulltext.replace(
        db.conn,
        [text for row in wrong if row.version for text in _text(db, row.skill, row.version)],
    )


def _text(db: Database, skill: int, version: int) -> list[mapping.SearchDocument]:
    """Return the searchable text of a version; empty if an earlier release did not store it."""
    return [
        fulltext.stored_document(db, skill, row)
        for row in db.query(
            "SELECT * FROM version_contents WHERE id = ? AND described != '{}'", [version]
        )
    ]


_WRONG = """
    SELECT id, root, path, version, has_text = is_indexed AND is_named FROM (
        SELECT s.id, s.root, s.path,
               CASE WHEN s.status IN ('active', 'shadowed') THEN s.current_version_id END
                   AS version,
               t.version AS has_version, t.id IS NOT NULL AS has_text,
               EXISTS (SELECT 1 FROM skill_text_fts_docsize WHERE id = s.id) AS is_indexed,
               EXISTS (SELECT 1 FROM skills_fts_docsize WHERE id = s.id) AS is_named
        FROM skills AS s LEFT JOIN skill_text AS t ON t.id = s.id)
    WHERE version IS NOT has_version OR has_text != is_indexed OR NOT is_named
    ORDER BY id
"""
