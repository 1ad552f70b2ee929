"""Tables of declarations for ApexBridge."""

APEXBRIDGE = """
CREATE TABLE apexbridge_skills (
    skill INTEGER PRIMARY KEY REFERENCES skills (id) ON DELETE CASCADE,
    type TEXT,
    protocol TEXT,
    timeout_ms INTEGER,
    memory_mb INTEGER,
    network TEXT,
    network_allowlist TEXT NOT NULL,    -- JSON list, like the other lists
    filesystem TEXT,
    requires_filesystem INTEGER CHECK (requires_filesystem IN (0, 1)),
    environment TEXT,                   -- JSON map
    security_from TEXT CHECK (security_from IN ('security', 'permissions')),
    capabilities TEXT NOT NULL,
    intents TEXT NOT NULL,
    phrases TEXT NOT NULL,
    event_types TEXT NOT NULL,
    entry TEXT,
    helpers TEXT NOT NULL,
    "references" TEXT NOT NULL,
    assets TEXT NOT NULL,
    abp_kind TEXT,
    cacheable INTEGER CHECK (cacheable IN (0, 1)),
    ttl REAL,                           -- seconds
    input_schema TEXT,                  -- JSON Schema
    output_schema TEXT
) STRICT;
CREATE INDEX apexbridge_skills_by_network ON apexbridge_skills (network);

CREATE TABLE abp_tools (
    id INTEGER PRIMARY KEY,
    skill INTEGER NOT NULL REFERENCES apexbridge_skills (skill) ON DELETE CASCADE,
    position INTEGER NOT NULL,          -- from 0
    name TEXT NOT NULL,
    description TEXT,
    kind TEXT,
    parameters TEXT,                    -- JSON
    returns TEXT,
    UNIQUE (skill, position)
) STRICT;
CREATE INDEX abp_tools_by_name ON abp_tools (name);
"""
