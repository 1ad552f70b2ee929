"""Work of the service that failed and is tried again."""

TROUBLES = """
CREATE TABLE troubles (
    part TEXT PRIMARY KEY,
    what TEXT NOT NULL,
    since TEXT NOT NULL,
    times INTEGER NOT NULL,
    last_at TEXT NOT NULL,
    next_try_at TEXT
) STRICT;
"""
