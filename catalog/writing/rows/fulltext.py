"""Full-text rows of the skills, and the index over them."""

from collections.abc import Iterable, Sequence
from sqlite3 import Connection

from catalog.database.sql import insert
from catalog.writing.rows.mapping import SearchDocument


def replace(db: Connection, texts: Sequence[SearchDocument]) -> None:
    """Write what is searched, in the place of what was of the same skills. Raises sqlite3.Error.

    A trigger takes from the index what leaves the table. What comes is given to both in one go
    each: FTS5 flushes what it has gathered at each row that a trigger gives it.
    """
    remove(db, [text.id for text in texts])
    db.executemany(_KEEP, [text[:_BODY] + text[_BODY + 1 :] for text in texts])
    db.executemany(_INDEX, [text[:_INDEXED] for text in texts])


def remove(db: Connection, skills: Iterable[int]) -> None:
    """Take skills out of the search. Raises sqlite3.Error."""
    db.executemany("DELETE FROM skill_text WHERE id = ?", [(skill,) for skill in skills])


def rebuild(db: Connection) -> None:
    """Make the index again from all that is searched. Raises sqlite3.Error."""
    db.execute("INSERT INTO skills_fts (skills_fts) VALUES ('rebuild')")


_BODY = SearchDocument._fields.index("body")  # not kept: it stands in the SKILL.md of the version
_INDEXED = SearchDocument._fields.index("version")  # and what follows is only kept
_KEEP = insert("skill_text", SearchDocument._fields[:_BODY] + SearchDocument._fields[_BODY + 1 :])
_INDEX = insert("skills_fts", ("rowid", *SearchDocument._fields[1:_INDEXED]))
