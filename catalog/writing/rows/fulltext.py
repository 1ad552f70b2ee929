"""Full-text rows: their search documents, and the repair of wrong ones."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from catalog.database.queries import Database
from catalog.database.sql import Row, to_json
from catalog.database.writer import Writer
from catalog.writing.rows.mapping import SearchDocument, restored_text


def replace(db: Writer, texts: Sequence[SearchDocument]) -> None:
    """Replace the searchable text of skills, whose rows are written. Raises sqlite3.Error."""
    remove(db, [text.id for text in texts])
    db.table("skill_text").insert_all(text._asdict() for text in texts)


def stored_document(db: Database, skill: int, version: Row) -> SearchDocument:
    """Return the searchable text of a stored version."""
    rows = db.execute("SELECT path FROM files WHERE version = ? ORDER BY id", [version["id"]])
    return restored_text(skill, version, [path for (path,) in rows.fetchall()])


def remove(db: Writer, skills: Iterable[int]) -> None:
    """Remove skills from the search. Raises sqlite3.Error."""
    db.conn.executemany("DELETE FROM skill_text WHERE id = ?", [(skill,) for skill in skills])


def rebuild(db: Writer) -> None:
    """Rebuild the indexes from the stored texts. Raises sqlite3.Error."""
    for table in ("skills_fts", "skill_text_fts"):
        db.execute(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")


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


def repair_rows(db: Writer, wrong: Sequence[WrongRow]) -> None:
    """Rewrite these rows from the versions, inside the caller's transaction.

    Raises sqlite3.Error.
    """
    if not all(row.is_indexed for row in wrong):
        rebuild(db)  # first: a row must be indexed before it can be removed
    remove(db, [row.skill for row in wrong])
    versions = db.query(_VERSIONS, [to_json([row.version for row in wrong])])
    replace(db, [stored_document(db, version["skill"], version) for version in versions])


_VERSIONS = "SELECT * FROM version_contents WHERE id IN (SELECT value FROM json_each(?))"
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
