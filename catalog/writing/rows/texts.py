"""Rows of texts: each lies once, by the SHA-256 of its file, however many versions have it."""

from collections.abc import Iterable, Mapping

from catalog.database.sql import to_json
from catalog.database.writer import Writer
from catalog.writing.rows import fulltext


def ids_of(db: Writer, texts: Mapping[str, str]) -> dict[str, int]:
    """Store texts, given by hash, unless they are stored; return the id of each by its hash."""
    db.table("texts").insert_all(
        ({"sha256": sha256, "text": text} for sha256, text in texts.items()), ignore=True
    )
    stored = db.execute(_STORED, [to_json(list(texts))]).fetchall()
    if damaged := [(texts[each], text_id) for each, text_id, text in stored if text != texts[each]]:
        db.conn.executemany("UPDATE texts SET text = ? WHERE id = ?", damaged)
        fulltext.rebuild(db)
    return {sha256: text_id for sha256, text_id, _ in stored}


def of_versions(db: Writer, versions: Iterable[int]) -> list[int]:
    """Return the ids of the texts that versions have."""
    return [text for (text,) in db.execute(_OF_VERSIONS, [to_json(list(versions))])]


def forget(db: Writer, texts: Iterable[int]) -> None:
    """Delete those of some texts that nothing has any more. Raises sqlite3.Error."""
    db.execute(_FORGET, [to_json(list(texts))])


_STORED = """
    SELECT t.sha256, t.id, t.text FROM json_each(?) AS wanted
    CROSS JOIN texts AS t ON t.sha256 = wanted.value
"""
_OF_VERSIONS = """
    SELECT f.text_id FROM json_each(?) AS wanted CROSS JOIN files AS f ON f.version = wanted.value
    WHERE f.text_id IS NOT NULL
"""
_FORGET = """
    DELETE FROM texts WHERE id IN (SELECT value FROM json_each(?))
        AND NOT EXISTS (SELECT 1 FROM files WHERE text_id = texts.id)
        AND NOT EXISTS (SELECT 1 FROM versions WHERE text_id = texts.id)
"""
