"""Tables of scans, ingestions, requests, health, mounts and recent removals."""

HISTORY = """
CREATE TABLE scans (
    id INTEGER PRIMARY KEY,
    "trigger" TEXT NOT NULL,
    started_at TEXT NOT NULL,
    took_ms REAL,                       -- null while it runs, or if it was interrupted
    seen INTEGER NOT NULL DEFAULT 0,
    added INTEGER NOT NULL DEFAULT 0,
    updated INTEGER NOT NULL DEFAULT 0,
    unchanged INTEGER NOT NULL DEFAULT 0,
    renamed INTEGER NOT NULL DEFAULT 0,
    rejected INTEGER NOT NULL DEFAULT 0,
    removed INTEGER NOT NULL DEFAULT 0,
    held INTEGER NOT NULL DEFAULT 0,
    missed_by_events INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE ingestions (
    id INTEGER PRIMARY KEY,             -- the newest row stays, so that no id is used twice
    skill INTEGER REFERENCES skills (id),
    root TEXT NOT NULL,
    path TEXT NOT NULL,
    scan INTEGER REFERENCES scans (id),
    "trigger" TEXT NOT NULL CHECK ("trigger" IN ('event', 'start', 're-scan', 'command')),
    outcome TEXT NOT NULL CHECK (outcome IN ('added', 'updated', 'renamed', 'rejected',
                                             'removed', 'held', 'pinned', 'unpinned',
                                             'active', 'shadowed', 'withheld')),
    detail TEXT,
    version INTEGER REFERENCES versions (id) ON DELETE SET NULL,
    started_at TEXT NOT NULL,
    took_ms REAL NOT NULL,
    steps TEXT NOT NULL DEFAULT '[]'    -- JSON list of step traces
) STRICT;
CREATE INDEX ingestions_by_skill ON ingestions (skill);
CREATE INDEX ingestions_by_time ON ingestions (started_at);
CREATE INDEX ingestions_by_version ON ingestions (version);

CREATE TABLE listeners (
    name TEXT PRIMARY KEY,
    last_event INTEGER NOT NULL         -- id of the last ingestion it was given
) STRICT;

CREATE TABLE requests (
    id INTEGER PRIMARY KEY,
    action TEXT NOT NULL,
    arguments TEXT NOT NULL DEFAULT '{}',
    result TEXT,
    asked_at TEXT NOT NULL,
    started_at TEXT,
    finished_at TEXT
) STRICT;
CREATE INDEX requests_waiting ON requests (id) WHERE finished_at IS NULL;
-- The service queries these every second.
CREATE INDEX requests_unbegun ON requests (asked_at) WHERE started_at IS NULL;

CREATE TABLE health (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    service_pid INTEGER,
    service_started TEXT,
    service_seen TEXT,                  -- heartbeat of the service
    service_stopped TEXT,
    last_event TEXT,
    last_full_scan TEXT,
    watcher_mode TEXT NOT NULL DEFAULT 'stopped'
        CHECK (watcher_mode IN ('native', 'polling', 'stopped')),
    watcher_since TEXT,
    watcher_reason TEXT,
    overflows INTEGER NOT NULL DEFAULT 0,
    missed_by_events INTEGER NOT NULL DEFAULT 0,
    pending_count INTEGER NOT NULL DEFAULT 0,
    held_removals INTEGER NOT NULL DEFAULT 0,
    quiet_since TEXT,
    packages_folder TEXT,
    identity TEXT,                      -- of the catalog, also stored in its folders
    packages_repaired INTEGER NOT NULL DEFAULT 0
) STRICT;
INSERT INTO health (id) VALUES (1);

CREATE TABLE mounts (
    root TEXT NOT NULL REFERENCES roots (path),
    path TEXT NOT NULL,                 -- relative to the root, "" for the root itself
    device TEXT NOT NULL,
    PRIMARY KEY (root, path)
) STRICT;

CREATE TABLE recent_removals (
    skill INTEGER PRIMARY KEY REFERENCES skills (id),
    boot TEXT NOT NULL,
    uptime REAL NOT NULL                -- seconds since that boot of the machine
) STRICT;
"""
