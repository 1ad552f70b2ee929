"""Tables of the directories of links, and of the links in them."""

LINKS = """
CREATE TABLE linked_directories (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    origin TEXT NOT NULL CHECK (origin IN ('data', 'settings', 'command')),
    index_name TEXT,                    -- the filter of this index counts
    filter TEXT NOT NULL,               -- JSON: levels, tags, names; an empty list is "all"
    is_leaving INTEGER NOT NULL DEFAULT 0 CHECK (is_leaving IN (0, 1)), -- its links are removed
    trouble TEXT                        -- why it cannot be updated now
) STRICT;

CREATE TABLE links (
    id INTEGER PRIMARY KEY,
    directory INTEGER NOT NULL REFERENCES linked_directories (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    skill_id TEXT NOT NULL,
    target TEXT NOT NULL,
    former_target TEXT,                 -- until a crash can no longer leave it
    is_linked INTEGER NOT NULL DEFAULT 0 CHECK (is_linked IN (0, 1)), -- 0: the name is taken
    UNIQUE (directory, name)
) STRICT;
CREATE INDEX links_by_skill ON links (directory, skill_id);
CREATE INDEX links_missing ON links (directory, name) WHERE is_linked = 0;
"""
