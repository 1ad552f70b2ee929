"""Tables of run outcomes in which a file may have several, and name no skill."""

RUNS = """
DROP INDEX outcomes_by_skill;
DROP INDEX outcomes_by_version;
DROP INDEX outcomes_by_time;
DROP INDEX outcomes_newest;
DROP INDEX memory_writes_by_owner;
DROP INDEX step_traces_by_duration;
ALTER TABLE step_traces RENAME TO step_traces_before;
ALTER TABLE memory_writes RENAME TO memory_writes_before;
ALTER TABLE outcomes RENAME TO outcomes_before;

CREATE TABLE outcomes (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,                 -- of the file, relative to the folder of outcomes
    line INTEGER,                       -- of a file of JSON Lines, from 1
    run_id TEXT NOT NULL,
    revision INTEGER NOT NULL,          -- from 1; changed content of a run gets the next
    is_newest INTEGER NOT NULL CHECK (is_newest IN (0, 1)),
    skill_id TEXT,                      -- null where nothing names a skill
    skill INTEGER REFERENCES skills (id), -- null where the catalog does not have it
    version INTEGER REFERENCES versions (id) ON DELETE SET NULL,
    skill_declared TEXT,                -- as the file has it
    version_declared TEXT,              -- as the file, its folder or its name has it
    form TEXT NOT NULL CHECK (form IN ('outcome', 'abp')),
    tool TEXT,
    call_id TEXT,
    status TEXT,
    failed INTEGER NOT NULL CHECK (failed IN (0, 1)),
    message TEXT,
    format TEXT,
    output TEXT NOT NULL,
    token_usage TEXT,                   -- as the file has it
    tokens REAL,
    warnings TEXT NOT NULL,
    findings TEXT NOT NULL,
    sha256 TEXT NOT NULL,               -- of the file, or of the line
    received_at TEXT NOT NULL,
    UNIQUE (path, run_id, revision)
) STRICT;
INSERT INTO outcomes
    SELECT id, path, NULL, run_id, revision, is_newest, skill_id, skill, version, NULL,
        version_declared, form, tool, call_id, status, failed, message, format, output,
        nullif(token_usage, '{}'), NULL, warnings, findings, sha256, received_at
    FROM outcomes_before;
CREATE INDEX outcomes_by_skill ON outcomes (skill, received_at);
CREATE INDEX outcomes_by_skill_id ON outcomes (skill_id, received_at);
CREATE INDEX outcomes_by_version ON outcomes (version);
CREATE INDEX outcomes_by_time ON outcomes (received_at);
CREATE INDEX outcomes_without_skill ON outcomes (id) WHERE is_newest = 1 AND skill IS NULL;
CREATE INDEX outcomes_without_version ON outcomes (id) WHERE is_newest = 1
    AND version IS NULL AND version_declared IS NOT NULL AND skill IS NOT NULL;

CREATE TABLE memory_writes (
    id INTEGER PRIMARY KEY,             -- hooks are told of them in this order
    outcome INTEGER NOT NULL REFERENCES outcomes (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,          -- from 1
    owner_type TEXT CHECK (owner_type IN ('user', 'household', 'task', 'group')),
    owner_id TEXT,
    type TEXT NOT NULL CHECK (type IN ('preference', 'fact', 'event', 'summary')),
    importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 5),
    importance_declared REAL NOT NULL,
    content TEXT NOT NULL,
    metadata TEXT NOT NULL,
    suggestion TEXT NOT NULL DEFAULT '', -- identifier; another revision of the run has the same
    UNIQUE (outcome, position)
) STRICT;
INSERT INTO memory_writes
    SELECT *, 'before-' || id FROM memory_writes_before ORDER BY id;
CREATE INDEX memory_writes_by_owner ON memory_writes (owner_type, owner_id);
CREATE INDEX memory_writes_by_suggestion ON memory_writes (suggestion);

CREATE TABLE step_traces (
    id INTEGER PRIMARY KEY,
    outcome INTEGER NOT NULL REFERENCES outcomes (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,          -- from 1
    step_id TEXT NOT NULL,
    step_name TEXT NOT NULL,
    input TEXT,
    output TEXT,
    duration REAL,                      -- milliseconds
    error TEXT,
    error_declared TEXT,                -- as the file has it
    timestamp TEXT,
    timestamp_declared TEXT,            -- as the file has it
    UNIQUE (outcome, position)
) STRICT;
INSERT INTO step_traces
    SELECT id, outcome, position, step_id, step_name, input, output, duration, error,
        json_quote(error), timestamp, json_quote(timestamp)
    FROM step_traces_before;
CREATE INDEX step_traces_by_duration ON step_traces (duration);

DROP TABLE step_traces_before;
DROP TABLE memory_writes_before;
DROP TABLE outcomes_before;

-- Outcome files that were read, as far as they were: the next look opens changed ones alone.
CREATE TABLE outcome_files (
    path TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,          -- empty where more waits to be read
    bytes INTEGER NOT NULL,             -- of a file of JSON Lines: up to here, …
    lines INTEGER NOT NULL,             -- … which are so many lines, …
    tail TEXT NOT NULL                  -- … with this SHA-256 of their end
) STRICT;
ALTER TABLE outcome_rejections ADD COLUMN lines TEXT; -- of a file of JSON Lines
"""
