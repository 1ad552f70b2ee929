"""Migrations that a catalog has, and those that this release knows.

A catalog is opened to be read without the migrations themselves, which need sqlite-utils.
"""

import sqlite3

APPLICATION_ID = 0x534B4454
"""`SKDT` in the header of every catalog; databases without it are never written to."""

MIGRATION_SET = "skilldrop"
MIGRATIONS = (
    "m001_schema",
    "m002_similarity",
    "m003_links",
    "m004_package_sizes",
    "m005_names",
    "m006_site_address",
    "m007_left_out",
    "m008_reviews",
    "m009_references",
    "m010_mirrors",
    "m011_runs",
    "m013_activity",
    "m014_facets",
    "m015_packed_texts",
    "m016_folder_stats",
    "m017_short_rows",
)
"""Names of all migrations, oldest first; those of `catalog.database.migrations`."""
_TABLE = "_sqlite_migrations"
"""Table of sqlite-utils with the migrations of a file."""


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
