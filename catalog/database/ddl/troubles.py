"""Table of failed work that the service tries again."""

TROUBLES = """
CREATE TABLE troubles (
    part TEXT PRIMARY KEY,
    message TEXT NOT NULL,
    since TEXT NOT NULL,
    times INTEGER NOT NULL,
    last_at TEXT NOT NULL,
    next_try_at TEXT
) STRICT;
"""
