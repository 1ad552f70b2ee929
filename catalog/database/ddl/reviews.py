"""Table of decisions on contents, and the columns of reviews."""

REVIEWS = """
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY,
    digest TEXT NOT NULL,               -- of the content; the newest decision on it counts
    decision TEXT NOT NULL CHECK (decision IN ('approved', 'rejected')),
    decided_by TEXT NOT NULL,
    decided_at TEXT NOT NULL,
    why TEXT,
    skill INTEGER REFERENCES skills (id), -- the skill that was looked at
    version TEXT NOT NULL               -- its version
) STRICT;
CREATE INDEX reviews_by_digest ON reviews (digest);
CREATE INDEX reviews_by_skill ON reviews (skill);
ALTER TABLE versions ADD COLUMN review TEXT CHECK (review IN ('waits', 'approved', 'rejected'));
CREATE INDEX versions_reviewed ON versions (digest) WHERE review IS NOT NULL;
CREATE INDEX versions_by_review ON versions (review) WHERE review IS NOT NULL;
ALTER TABLE roots ADD COLUMN review TEXT NOT NULL DEFAULT 'none'
    CHECK (review IN ('none', 'findings', 'always'));
ALTER TABLE roots ADD COLUMN review_severity TEXT NOT NULL DEFAULT 'warning'
    CHECK (review_severity IN ('error', 'warning', 'info'));
-- Versions with a lower id were stored under other rules, and need no review.
ALTER TABLE roots ADD COLUMN review_from INTEGER NOT NULL DEFAULT 0;
"""
