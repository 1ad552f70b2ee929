"""Tables of sketches, which find skills with similar bodies."""

SIMILARITY = """
CREATE TABLE body_sketches (
    version INTEGER PRIMARY KEY REFERENCES versions (id) ON DELETE CASCADE,
    sketch BLOB                         -- of its body; empty if that is too short, null if missing
) STRICT;
CREATE INDEX body_sketches_missing ON body_sketches (version) WHERE sketch IS NULL;
-- Versions with similar bodies share a bucket.
CREATE TABLE sketch_buckets (
    bucket INTEGER NOT NULL,
    version INTEGER NOT NULL REFERENCES body_sketches (version) ON DELETE CASCADE,
    PRIMARY KEY (bucket, version)
) STRICT, WITHOUT ROWID;
CREATE INDEX sketch_buckets_by_version ON sketch_buckets (version);
CREATE INDEX skills_present_by_version ON skills (current_version_id) WHERE status != 'removed';
"""
MARK_MISSING = """
INSERT INTO body_sketches (version)
SELECT id FROM versions WHERE id NOT IN (SELECT version FROM body_sketches);
"""
