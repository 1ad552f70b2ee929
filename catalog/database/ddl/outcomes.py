"""Tables of run outcomes: outcomes, memory writes, step traces, rejections."""

OUTCOMES = """
CREATE TABLE outcomes (
    id INTEGER PRIMARY KEY,
    skill_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    revision INTEGER NOT NULL,          -- from 1; changed content of a run gets the next
    is_newest INTEGER NOT NULL CHECK (is_newest IN (0, 1)),
    skill INTEGER REFERENCES skills (id), -- null where the catalog does not have it
    version INTEGER REFERENCES versions (id) ON DELETE SET NULL,
    version_declared TEXT,                  -- as the file has it
    form TEXT NOT NULL CHECK (form IN ('outcome', 'abp')),
    tool TEXT,
    call_id TEXT,
    status TEXT,
    failed INTEGER NOT NULL CHECK (failed IN (0, 1)),
    message TEXT,
    format TEXT,
    output TEXT NOT NULL,
    token_usage TEXT NOT NULL,
    warnings TEXT NOT NULL,
    findings TEXT NOT NULL,
    path TEXT NOT NULL,                 -- of the file, relative to the folder of outcomes
    fingerprint TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    received_at TEXT NOT NULL,
    UNIQUE (skill_id, run_id, revision)
) STRICT;
CREATE INDEX outcomes_by_skill ON outcomes (skill, received_at);
CREATE INDEX outcomes_by_version ON outcomes (version);
CREATE INDEX outcomes_by_time ON outcomes (received_at);
CREATE INDEX outcomes_newest ON outcomes (path) WHERE is_newest = 1;

CREATE TABLE memory_writes (
    id INTEGER PRIMARY KEY,
    outcome INTEGER NOT NULL REFERENCES outcomes (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,          -- from 1
    owner_type TEXT CHECK (owner_type IN ('user', 'household', 'task', 'group')),
    owner_id TEXT,
    type TEXT NOT NULL CHECK (type IN ('preference', 'fact', 'event', 'summary')),
    importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 5),
    importance_declared REAL NOT NULL,
    content TEXT NOT NULL,
    metadata TEXT NOT NULL,
    UNIQUE (outcome, position)
) STRICT;
CREATE INDEX memory_writes_by_owner ON memory_writes (owner_type, owner_id);

CREATE TABLE step_traces (
    id INTEGER PRIMARY KEY,
    outcome INTEGER NOT NULL REFERENCES outcomes (id) ON DELETE CASCADE,
    position INTEGER NOT NULL,          -- from 1
    step_id TEXT NOT NULL,
    step_name TEXT NOT NULL,
    input TEXT,
    output TEXT,
    duration REAL NOT NULL,             -- milliseconds
    error TEXT,
    timestamp TEXT NOT NULL,
    UNIQUE (outcome, position)
) STRICT;
CREATE INDEX step_traces_by_duration ON step_traces (duration);

CREATE TABLE outcome_rejections (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    quarantined_as TEXT,                -- null where the file could not be moved
    reason TEXT NOT NULL,
    findings TEXT NOT NULL,
    rejected_at TEXT NOT NULL
) STRICT;
CREATE INDEX outcome_rejections_in_place ON outcome_rejections (path)
    WHERE quarantined_as IS NULL;
CREATE INDEX outcome_rejections_by_path ON outcome_rejections (path);
-- The service queries those of the last day every few seconds.
CREATE INDEX outcome_rejections_by_time ON outcome_rejections (rejected_at);
"""
