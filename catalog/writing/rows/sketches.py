"""Sketches of the bodies of versions."""

import logging
from collections.abc import Sequence
from sqlite3 import Connection

from catalog.database.ddl.similarity import MARK_MISSING
from catalog.database.queries import Database
from catalog.database.sql import Transaction, insert, write
from catalog.text import humanize
from catalog.text.body import body_of
from catalog.text.sketch import buckets, sketch

log = logging.getLogger("skilldrop")

BATCH = 1000
"""Versions of an earlier release that get their sketches in one transaction."""


def add(db: Connection, rows: Sequence[tuple[int, bytes]]) -> None:
    """Store versions with the sketches of their bodies. Raises sqlite3.Error."""
    write(db, insert, "body_sketches", ("version", "sketch"), rows)
    # In the order of the table, neighbours are written together.
    found = sorted({(bucket, version) for version, stored in rows for bucket in buckets(stored)})
    write(db, insert, "sketch_buckets", ("bucket", "version"), found)


def remove(db: Connection, version: int) -> None:
    """Remove the sketch of a version. Raises sqlite3.Error."""
    db.execute("DELETE FROM body_sketches WHERE version = ?", [version])


def mark_missing(db: Database) -> None:
    """Mark the versions without a sketch, for the next start. Raises sqlite3.Error."""
    db.execute(MARK_MISSING)


def add_missing(db: Database, transaction: Transaction) -> None:
    """Store the sketches that an earlier release or a recovery left out. Raises sqlite3.Error."""
    (missing,) = db.execute("SELECT count(*) FROM body_sketches WHERE sketch IS NULL").fetchone()
    if missing:
        log.info("comparing the bodies of %s", humanize.count(missing, "stored version"))
    while rows := db.execute(_MISSING, [BATCH]).fetchall():
        with transaction():
            for version, *_ in rows:
                remove(db.conn, version)
            add(
                db.conn,
                [(version, sketch(body_of(text, chars).text)) for version, text, chars in rows],
            )


_MISSING = """
    SELECT v.id, v.skill_md_content, ifnull(json_extract(v.described, '$.body_chars'), 0)
    FROM body_sketches AS s CROSS JOIN version_contents AS v ON v.id = s.version
    WHERE s.sketch IS NULL LIMIT ?
"""
