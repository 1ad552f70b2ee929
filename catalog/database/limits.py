"""SQLite limits of every reading connection to a catalog, far below the defaults."""

import sqlite3

VALUE_BYTES = 32 * 2**20
"""Longest text, blob or row; by default a catalog holds none above 1 MiB."""

LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,  # characters; the longest of skilldrop has 10,000
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    # LIKE and GLOB take time in proportion to pattern times text, and no time limit stops them.
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 2000,  # Datasette asks for the labels of 1,000 rows
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}


def apply(connection: sqlite3.Connection) -> None:
    """Set the limits of a connection."""
    for limit, value in LIMITS.items():
        connection.setlimit(limit, value)
