"""Table of the mirrors of repositories, and the commit of each version."""

MIRRORS = """
CREATE TABLE mirrors (
    root TEXT PRIMARY KEY REFERENCES roots (path),
    url TEXT NOT NULL,                  -- without credentials
    ref TEXT,                           -- null for the default branch
    path TEXT NOT NULL,                 -- of a folder in the repository
    git_commit TEXT,                    -- of the content that the root has now
    pulled_at TEXT,                     -- last successful pull, even without a change
    trouble TEXT                        -- why the last pull failed
) STRICT;
ALTER TABLE versions ADD COLUMN git_commit TEXT; -- of a root that is a repository, when accepted
"""
