"""Rows of texts: each lies once, by the SHA-256 of its file, however many versions have it."""

from collections.abc import Iterable, Mapping
from sqlite3 import Connection

from catalog.database.sql import insert, to_json, write
from catalog.writing.rows import fulltext


def ids_of(db: Connection, texts: Mapping[str, str]) -> dict[str, int]:
    """Store texts, given by hash, unless they are stored; return the id of each by its hash."""
    stored = db.execute(_KNOWN, [to_json(list(texts))]).fetchall()
    known = {sha256: text_id for sha256, text_id, _ in stored}
    if damaged := [(texts[each], text_id) for each, text_id, text in stored if text != texts[each]]:
        db.executemany("UPDATE texts SET text = ? WHERE id = ?", damaged)
        fulltext.rebuild(db)
    (last,) = db.execute("SELECT ifnull(max(id), 0) FROM texts").fetchone()
    new = [sha256 for sha256 in texts if sha256 not in known]
    ids = {sha256: last + number for number, sha256 in enumerate(new, 1)}
    write(db, insert, "texts", ("id", "sha256", "text"), [(ids[h], h, texts[h]) for h in new])
    return known | ids


def of_versions(db: Connection, versions: Iterable[int]) -> list[int]:
    """Return the ids of the texts that versions have."""
    return [text for (text,) in db.execute(_OF_VERSIONS, [to_json(list(versions))])]


def forget(db: Connection, texts: Iterable[int]) -> None:
    """Delete those of some texts that nothing has any more. Raises sqlite3.Error."""
    db.execute(_FORGET, [to_json(list(texts))])


_KNOWN = """
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
