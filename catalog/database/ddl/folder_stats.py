"""Table of the names and stats of skill folders, from which a scan sees that nothing changed."""

FOLDER_STATS = """
CREATE TABLE folder_stats (
    skill INTEGER PRIMARY KEY REFERENCES skills (id) ON DELETE CASCADE,
    paths TEXT NOT NULL,                -- of its directories and files
    digest TEXT NOT NULL                -- of their stats
) STRICT;
"""
