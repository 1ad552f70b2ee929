"""The limits that each reading connection to a catalog keeps, far below those of SQLite."""

import sqlite3

VALUE_BYTES = 32 * 2**20
"""Longest text or blob, and longest row; the largest that a catalog holds by default is 1 MiB."""

LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: VALUE_BYTES,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,  # characters; our longest has 10,000
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 50,
    # LIKE and GLOB take the product of pattern and text, and no time limit interrupts them.
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 2000,  # Datasette asks for the labels of 1,000 rows
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
}


def apply(connection: sqlite3.Connection) -> None:
    """Set the limits on a connection."""
    for limit, value in LIMITS.items():
        connection.setlimit(limit, value)
