"""Full-text rows of the skills, and the index over them."""

from collections.abc import Iterable, Sequence
from sqlite3 import Connection

from catalog.database.queries import Database
from catalog.database.sql import Row, columns, insert
from catalog.writing.rows.mapping import SearchDocument, restored_text


def replace(db: Connection, texts: Sequence[SearchDocument]) -> None:
    """Replace the searchable text of skills. Raises sqlite3.Error.

    A trigger removes deleted rows from the index. New rows are written to table and index in one
    statement each, because FTS5 flushes its buffer at each row that a trigger inserts.
    """
    remove(db, [text.id for text in texts])
    db.executemany(_KEEP, texts)
    db.executemany(_INDEX, [text[:_INDEXED] for text in texts])
    db.executemany(
        _INDEX_SHORT,
        [(text.id, text.name, text.description, text.tags, text.grams) for text in texts],
    )


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
    for table in ("skills_fts", "skills_short_fts"):
        db.execute(f"INSERT INTO {table} ({table}) VALUES (?)", [command])


_INDEXED = SearchDocument._fields.index(
    "version"
)  # this field and the following are stored, but not indexed
# The SKILL.md of the version has the body, and the skill its description.
_STORED = {
    name: f"?{number}" for number, name in enumerate(SearchDocument._fields, 1) if name != "body"
} | {"description": "nullif(?3, (SELECT description FROM skills WHERE id = ?1))"}
_KEEP = f"INSERT INTO skill_text ({columns(_STORED)}) VALUES ({', '.join(_STORED.values())})"
_INDEX_SHORT = insert("skills_short_fts", ("rowid", "name", "description", "tags", "grams"))
_INDEX = insert("skills_fts", ("rowid", *SearchDocument._fields[1:_INDEXED]))
