"""Migrations that a catalog has, and those that this release knows.

A catalog is opened to be read without the migrations themselves, which need sqlite-utils.
"""

import sqlite3

APPLICATION_ID = 0x534B4454
"""`SKDT` in the header of every catalog; databases without it are never written to."""

MIGRATION_SET = "skilldrop"
MIGRATIONS = ("m001_catalog",)
"""Names of all migrations, oldest first; those of `catalog.database.schema`."""
_TABLE = "_sqlite_migrations"
"""Table of sqlite-utils with the migrations of a file."""


def is_unreleased(connection: sqlite3.Connection) -> bool:
    """Return whether a catalog has a schema from before the first release. Raises sqlite3.Error."""
    return bool(applied := _applied(connection)) and MIGRATIONS[0] not in applied


def unknown_migrations(connection: sqlite3.Connection) -> list[str]:
    """Return the migrations of a catalog that this release lacks, oldest first.

    Raises sqlite3.Error.
    """
    return [name for name in _applied(connection) if name not in MIGRATIONS]


def missing_migrations(connection: sqlite3.Connection) -> list[str]:
    """Return the migrations of this release that a catalog lacks, oldest first.

    Raises sqlite3.Error.
    """
    applied = _applied(connection)
    return [name for name in MIGRATIONS if name not in applied]


def _applied(connection: sqlite3.Connection) -> list[str]:
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [_TABLE]).fetchone():
        return []
    rows = connection.execute(
        f"SELECT name FROM {_TABLE} WHERE migration_set = ? ORDER BY rowid", [MIGRATION_SET]
    )
    return [name for (name,) in rows]
