"""Tables of roots, skills, versions, files, findings and name skeletons."""

SKILLS = """
CREATE TABLE roots (
    path TEXT PRIMARY KEY,
    level TEXT NOT NULL CHECK (level IN ('enterprise', 'personal', 'project', 'plugin')),
    position INTEGER NOT NULL,          -- order in the configuration
    acceptance TEXT NOT NULL CHECK (acceptance IN ('strict', 'lenient', 'permissive')),
    profiles TEXT NOT NULL,             -- JSON list
    judged_by TEXT NOT NULL,            -- the rules that validated its skills
    configured INTEGER NOT NULL DEFAULT 1 CHECK (configured IN (0, 1)),
    trouble TEXT                        -- why it cannot be read now
) STRICT;

CREATE TABLE skills (
    id INTEGER PRIMARY KEY,
    skill_id TEXT NOT NULL,
    name TEXT NOT NULL,
    display_name TEXT,
    description TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL
        CHECK (status IN ('active', 'shadowed', 'rejected', 'pending', 'removed')),
    status_reason TEXT,
    shadowed_by INTEGER REFERENCES skills (id),
    spec_valid INTEGER CHECK (spec_valid IN (0, 1)),
    level TEXT NOT NULL,
    plugin TEXT,
    root TEXT NOT NULL REFERENCES roots (path),
    path TEXT NOT NULL,
    author TEXT,
    license TEXT,
    compatibility TEXT,
    allowed_tools TEXT,
    category TEXT,
    tags TEXT NOT NULL DEFAULT '[]',
    priority REAL,
    model_invocable INTEGER NOT NULL DEFAULT 1 CHECK (model_invocable IN (0, 1)),
    user_invocable INTEGER NOT NULL DEFAULT 1 CHECK (user_invocable IN (0, 1)),
    fallback_description TEXT,          -- from the body, where the description says nothing
    body_lines INTEGER,
    estimated_tokens INTEGER,
    file_inventory TEXT NOT NULL DEFAULT '{}',
    frontmatter TEXT NOT NULL DEFAULT '{}',
    skill_md_name TEXT,
    skill_md_hash TEXT,
    digest TEXT,                        -- of the accepted content
    seen_digest TEXT,                   -- of the content last read, accepted or not
    fingerprint TEXT NOT NULL DEFAULT '',
    current_version_id INTEGER REFERENCES versions (id) DEFERRABLE INITIALLY DEFERRED,
    pinned_version_id INTEGER REFERENCES versions (id) DEFERRABLE INITIALLY DEFERRED,
    package_path TEXT,
    newest_rejected_at TEXT,            -- set while the last good version stays published
    pending_since TEXT,
    pending_reason TEXT,
    held_cause TEXT CHECK (held_cause IN ('mass_removal', 'lost_root', 'lost_mount',
                                          'unconfigured_root')),
    first_seen TEXT NOT NULL,
    last_changed TEXT NOT NULL,
    level_rank INTEGER GENERATED ALWAYS AS (
        CASE level WHEN 'enterprise' THEN 0 WHEN 'personal' THEN 1
                   WHEN 'project' THEN 2 ELSE 3 END) VIRTUAL,
    is_alias INTEGER NOT NULL DEFAULT 0 CHECK (is_alias IN (0, 1)), -- reached through a link
    has_scripts INTEGER
        GENERATED ALWAYS AS (json_extract(file_inventory, '$.hasScripts')) VIRTUAL,
    -- Contents since the last version that came too fast to become versions.
    coalesced INTEGER NOT NULL DEFAULT 0,
    is_held INTEGER GENERATED ALWAYS AS (held_cause IS NOT NULL) VIRTUAL,
    UNIQUE (root, path)
) STRICT;
CREATE INDEX skills_by_skill_id ON skills (skill_id, status);
CREATE INDEX skills_by_name ON skills (name);
CREATE INDEX skills_by_status ON skills (status, last_changed);
CREATE INDEX skills_by_digest ON skills (digest);
-- SQLite searches here for referring rows at every write to versions.
CREATE INDEX skills_by_current_version ON skills (current_version_id);
CREATE INDEX skills_by_pinned_version ON skills (pinned_version_id);
CREATE INDEX skills_pending ON skills (pending_since) WHERE pending_since IS NOT NULL;
CREATE INDEX skills_in_index_order
    ON skills (level_rank, ifnull(priority, 0) DESC, name, id)
    WHERE status = 'active' AND model_invocable = 1;
-- Facets are counted from these indexes; without them each facet reads all skills.
CREATE INDEX skills_by_level ON skills (level);
CREATE INDEX skills_by_spec_valid ON skills (spec_valid);
CREATE INDEX skills_by_has_scripts ON skills (has_scripts) WHERE has_scripts IS NOT NULL;
CREATE INDEX skills_by_plugin ON skills (plugin) WHERE plugin IS NOT NULL;
CREATE INDEX skills_by_license ON skills (license) WHERE license IS NOT NULL;
CREATE INDEX skills_by_category ON skills (category) WHERE category IS NOT NULL;
CREATE INDEX skills_newest_rejected ON skills (newest_rejected_at)
    WHERE newest_rejected_at IS NOT NULL;

CREATE TABLE versions (
    id INTEGER PRIMARY KEY,
    skill INTEGER NOT NULL REFERENCES skills (id),
    skill_id TEXT NOT NULL,
    version TEXT NOT NULL,
    ingested_at TEXT NOT NULL,
    superseded_at TEXT,
    digest TEXT NOT NULL,
    skill_md_hash TEXT NOT NULL,
    package_path TEXT,
    file_inventory TEXT NOT NULL,
    frontmatter TEXT NOT NULL,
    skill_md_content TEXT NOT NULL,
    described TEXT NOT NULL DEFAULT '{}', -- JSON: columns of skills that versions lacks
    retired_at TEXT,                    -- since when agents no longer get its package
    verified_at TEXT,                   -- when its package was last hashed
    UNIQUE (skill_id, version)
) STRICT;
CREATE INDEX versions_by_skill ON versions (skill);
CREATE INDEX versions_retired ON versions (retired_at) WHERE package_path IS NOT NULL;
CREATE INDEX versions_packaged ON versions (package_path) WHERE package_path IS NOT NULL;
CREATE INDEX versions_superseded ON versions (superseded_at) WHERE superseded_at IS NOT NULL;
CREATE INDEX versions_by_verification ON versions (verified_at) WHERE package_path IS NOT NULL;

CREATE TABLE files (
    id INTEGER PRIMARY KEY,
    version INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('skill_md', 'script', 'reference', 'asset',
                                       'template', 'test', 'config', 'other')),
    size INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    mode TEXT NOT NULL,                 -- octal, as in `ls` and `chmod`
    is_text INTEGER NOT NULL CHECK (is_text IN (0, 1)),
    text TEXT,
    UNIQUE (version, path)
) STRICT;

CREATE TABLE findings (
    id INTEGER PRIMARY KEY,
    skill INTEGER REFERENCES skills (id), -- null for a finding outside skills
    root TEXT NOT NULL REFERENCES roots (path),
    folder TEXT NOT NULL,               -- relative to the root
    code TEXT NOT NULL,
    severity TEXT NOT NULL CHECK (severity IN ('error', 'warning', 'info')),
    profile TEXT NOT NULL,
    field TEXT,
    path TEXT,                          -- relative to the folder
    line INTEGER,
    "column" INTEGER,
    message TEXT NOT NULL,
    fix TEXT NOT NULL,
    before TEXT,
    after TEXT
) STRICT;
CREATE INDEX findings_by_skill ON findings (skill);
CREATE INDEX findings_of_no_skill ON findings (root, folder) WHERE skill IS NULL;
CREATE INDEX findings_by_severity ON findings (severity);
-- The page of findings counts each kind from this index.
CREATE INDEX findings_by_kind ON findings (code, severity, profile, skill);

CREATE TABLE name_skeletons (
    skill_id TEXT PRIMARY KEY,
    skeleton TEXT NOT NULL              -- the same for names that look alike
) STRICT, WITHOUT ROWID;
CREATE INDEX name_skeletons_alike ON name_skeletons (skeleton);
"""
