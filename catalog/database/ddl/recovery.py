"""Table of recoveries of a damaged catalog."""

RECOVERIES = """
CREATE TABLE recoveries (
    id INTEGER PRIMARY KEY,
    recovered_at TEXT NOT NULL,
    reason TEXT NOT NULL,
    damaged_file TEXT NOT NULL,         -- its name now, in the directory of the catalog
    skills INTEGER NOT NULL,            -- rows that could be read from it
    versions INTEGER NOT NULL,
    ingestions INTEGER NOT NULL,
    index_builds INTEGER NOT NULL,
    outcomes INTEGER NOT NULL
) STRICT;
"""
