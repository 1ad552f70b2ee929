"""Rows of searched texts; triggers keep the full-text tables over them."""

from collections.abc import Iterable, Sequence
from sqlite3 import Connection

from catalog.database.queries import Database
from catalog.database.sql import Row, insert, write
from catalog.writing.rows.mapping import SearchDocument, restored_text


def replace(db: Connection, texts: Sequence[SearchDocument]) -> None:
    """Replace the searchable text of skills, whose rows are written. Raises sqlite3.Error."""
    remove(db, [text.id for text in texts])
    write(db, insert, "skill_text", SearchDocument._fields, texts)


def stored_document(db: Database, skill: int, version: Row) -> SearchDocument:
    """Return the searchable text of a stored version."""
    rows = db.execute("SELECT path FROM files WHERE version = ? ORDER BY id", [version["id"]])
    return restored_text(skill, version, [path for (path,) in rows.fetchall()])


def remove(db: Connection, skills: Iterable[int]) -> None:
    """Remove skills from the search. Raises sqlite3.Error."""
    db.executemany("DELETE FROM skill_text WHERE id = ?", [(skill,) for skill in skills])


def rebuild(db: Connection) -> None:
    """Rebuild the indexes from the stored texts. Raises sqlite3.Error."""
    _command(db, "rebuild")


def optimize(db: Connection) -> None:
    """Write the indexes once more without any trace of removed texts. Raises sqlite3.Error."""
    _command(db, "optimize")


def _command(db: Connection, command: str) -> None:
    for table in ("skills_fts", "skill_text_fts"):
        db.execute(f"INSERT INTO {table} ({table}) VALUES (?)", [command])
