"""Recoveries of a damaged catalog, and the indexes by which old rows are thinned."""

RECOVERIES = """
CREATE TABLE recoveries (
    id INTEGER PRIMARY KEY,
    recovered_at TEXT NOT NULL,
    why TEXT NOT NULL,
    damaged_file TEXT NOT NULL,         -- its name now, in the directory of the catalog
    skills INTEGER NOT NULL,            -- rows that could be read of it
    versions INTEGER NOT NULL,
    ingestions INTEGER NOT NULL,
    index_builds INTEGER NOT NULL,
    outcomes INTEGER NOT NULL
) STRICT;
"""

THINNING = """
CREATE INDEX versions_superseded ON versions (superseded_at) WHERE superseded_at IS NOT NULL;
-- SQLite looks here for referring rows when a version goes.
CREATE INDEX skill_text_by_version ON skill_text (version);
-- Contents that came too fast after each other to be versions of their own, since the last one.
ALTER TABLE skills ADD COLUMN coalesced INTEGER NOT NULL DEFAULT 0;
"""
