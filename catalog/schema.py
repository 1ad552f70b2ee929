"""The shape of the catalog: numbered migrations, and the only DDL in the project.

A landed migration is never edited; a change to the schema is a new one below it.
"""

import sqlite3

from sqlite_utils import Database
from sqlite_utils.migrations import Migrations

APPLICATION_ID = 0x534B4454
"""`SKDT` in the header of every catalog, so that a foreign database is never written to."""

migrations = Migrations("skilldrop")


@migrations()
def m001_roots_and_skills(db: Database) -> None:
    """Create the folders we look at, what was found in them, and each accepted content."""
    _run(db, """
    CREATE TABLE roots (
        path TEXT PRIMARY KEY,
        level TEXT NOT NULL CHECK (level IN ('enterprise', 'personal', 'project', 'plugin')),
        position INTEGER NOT NULL,          -- order in the configuration
        acceptance TEXT NOT NULL CHECK (acceptance IN ('strict', 'lenient', 'permissive')),
        profiles TEXT NOT NULL,             -- JSON list
        judged_by TEXT NOT NULL,            -- the rules its skills were judged by
        configured INTEGER NOT NULL DEFAULT 1 CHECK (configured IN (0, 1)),
        trouble TEXT                        -- why it cannot be read at present
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
        body_lines INTEGER,
        estimated_tokens INTEGER,
        file_inventory TEXT NOT NULL DEFAULT '{}',
        frontmatter TEXT NOT NULL DEFAULT '{}',
        skill_md_name TEXT,
        skill_md_hash TEXT,
        digest TEXT,                        -- of the accepted content
        seen_digest TEXT,                   -- of the content last looked at, accepted or not
        fingerprint TEXT NOT NULL DEFAULT '',
        current_version_id INTEGER REFERENCES versions (id) DEFERRABLE INITIALLY DEFERRED,
        pinned_version_id INTEGER REFERENCES versions (id) DEFERRABLE INITIALLY DEFERRED,
        package_path TEXT,
        newest_rejected_at TEXT,            -- set while the last good version stands in for it
        pending_since TEXT,
        pending_reason TEXT,
        first_seen TEXT NOT NULL,
        last_changed TEXT NOT NULL,
        level_rank INTEGER GENERATED ALWAYS AS (
            CASE level WHEN 'enterprise' THEN 0 WHEN 'personal' THEN 1
                       WHEN 'project' THEN 2 ELSE 3 END) VIRTUAL,
        UNIQUE (root, path)
    ) STRICT;
    CREATE INDEX skills_by_skill_id ON skills (skill_id, status);
    CREATE INDEX skills_by_name ON skills (name);
    CREATE INDEX skills_by_status ON skills (status, last_changed);
    CREATE INDEX skills_by_digest ON skills (digest);
    -- SQLite looks here for referring rows at every write to versions.
    CREATE INDEX skills_by_current_version ON skills (current_version_id);
    CREATE INDEX skills_by_pinned_version ON skills (pinned_version_id);
    CREATE INDEX skills_pending ON skills (pending_since) WHERE pending_since IS NOT NULL;
    CREATE INDEX skills_in_index_order
        ON skills (level_rank, ifnull(priority, 0) DESC, name, id)
        WHERE status = 'active' AND model_invocable = 1;

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
        UNIQUE (skill_id, version)
    ) STRICT;
    CREATE INDEX versions_by_skill ON versions (skill);

    CREATE TABLE files (
        id INTEGER PRIMARY KEY,
        version INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
        path TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('skill_md', 'script', 'reference', 'asset',
                                           'template', 'test', 'config', 'other')),
        size INTEGER NOT NULL,
        sha256 TEXT NOT NULL,
        mode TEXT NOT NULL,                 -- octal, as `ls` and `chmod` speak of it
        is_text INTEGER NOT NULL CHECK (is_text IN (0, 1)),
        text TEXT,
        UNIQUE (version, path)
    ) STRICT;

    CREATE TABLE findings (
        id INTEGER PRIMARY KEY,
        skill INTEGER REFERENCES skills (id), -- none where it speaks of no skill
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
    CREATE INDEX findings_by_code ON findings (code);
    CREATE INDEX findings_of_no_skill ON findings (root, folder) WHERE skill IS NULL;
    """)


@migrations()
def m002_history(db: Database) -> None:
    """Create what happened: scans, ingestions, wishes of commands, and the one health row."""
    _run(db, """
    CREATE TABLE scans (
        id INTEGER PRIMARY KEY,
        "trigger" TEXT NOT NULL,
        started_at TEXT NOT NULL,
        took_ms REAL,                       -- none while it runs, or where it was cut short
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
        id INTEGER PRIMARY KEY,
        skill INTEGER REFERENCES skills (id),
        root TEXT NOT NULL,
        path TEXT NOT NULL,
        scan INTEGER REFERENCES scans (id),
        "trigger" TEXT NOT NULL CHECK ("trigger" IN ('event', 'start', 're-scan', 'command')),
        outcome TEXT NOT NULL CHECK (outcome IN ('added', 'updated', 'renamed', 'rejected',
                                                 'removed', 'held')),
        detail TEXT,
        version INTEGER REFERENCES versions (id) ON DELETE SET NULL,
        started_at TEXT NOT NULL,
        took_ms REAL NOT NULL,
        steps TEXT NOT NULL DEFAULT '[]'    -- JSON list of step traces
    ) STRICT;
    CREATE INDEX ingestions_by_skill ON ingestions (skill);
    CREATE INDEX ingestions_by_time ON ingestions (started_at);
    CREATE INDEX ingestions_by_version ON ingestions (version);

    CREATE TABLE requests (
        id INTEGER PRIMARY KEY,
        what TEXT NOT NULL,
        arguments TEXT NOT NULL DEFAULT '{}',
        result TEXT,
        asked_at TEXT NOT NULL,
        started_at TEXT,
        finished_at TEXT
    ) STRICT;
    CREATE INDEX requests_waiting ON requests (id) WHERE finished_at IS NULL;

    CREATE TABLE health (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        service_pid INTEGER,
        service_started TEXT,
        service_seen TEXT,                  -- the service says so at short intervals
        service_stopped TEXT,
        last_event TEXT,
        last_full_scan TEXT,
        watcher_mode TEXT NOT NULL DEFAULT 'stopped'
            CHECK (watcher_mode IN ('native', 'polling', 'stopped')),
        watcher_since TEXT,
        watcher_reason TEXT,
        overflows INTEGER NOT NULL DEFAULT 0,
        missed_by_events INTEGER NOT NULL DEFAULT 0,
        pending_count INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    INSERT INTO health (id) VALUES (1);
    """)


@migrations()
def m003_indexes(db: Database) -> None:
    """Create the prompt indexes: their settings, texts, publications and entries."""
    _run(db, """
    CREATE TABLE indexes (
        name TEXT PRIMARY KEY,
        position INTEGER NOT NULL,
        format TEXT NOT NULL,
        language TEXT NOT NULL,
        filter TEXT NOT NULL,               -- JSON: levels, tags, names; an empty list is "all"
        featured TEXT NOT NULL,             -- JSON list of names
        budget_chars INTEGER NOT NULL,
        overflow TEXT NOT NULL CHECK (overflow IN ('fit', 'exclude')),
        location_base TEXT,
        last_build_id INTEGER REFERENCES index_builds (id) DEFERRABLE INITIALLY DEFERRED
    ) STRICT;

    CREATE TABLE index_texts (
        sha256 TEXT PRIMARY KEY,
        text TEXT NOT NULL,
        chars INTEGER NOT NULL,
        estimated_tokens INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE index_builds (
        id INTEGER PRIMARY KEY,
        index_name TEXT NOT NULL REFERENCES indexes (name) ON DELETE CASCADE,
        sha256 TEXT NOT NULL REFERENCES index_texts (sha256),
        published_at TEXT NOT NULL,
        full INTEGER NOT NULL,
        shortened INTEGER NOT NULL,
        name_only INTEGER NOT NULL,
        left_out INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX index_builds_by_time ON index_builds (index_name, published_at);
    CREATE INDEX index_builds_by_text ON index_builds (sha256);

    CREATE TABLE index_entries (
        id INTEGER PRIMARY KEY,
        index_name TEXT NOT NULL REFERENCES indexes (name) ON DELETE CASCADE,
        rank INTEGER NOT NULL,              -- from 1
        skill INTEGER NOT NULL REFERENCES skills (id),
        state TEXT NOT NULL CHECK (state IN ('full', 'shortened', 'name_only')),
        chars INTEGER NOT NULL,
        reason TEXT,
        UNIQUE (index_name, rank)
    ) STRICT;
    CREATE INDEX index_entries_by_skill ON index_entries (skill, index_name);

    CREATE VIEW index_left_out AS
    SELECT i.name AS index_name, s.id AS skill, s.skill_id, s.name,
        CASE
            WHEN s.model_invocable = 0 THEN 'hidden'
            WHEN json_array_length(i.filter, '$.levels') > 0 AND s.level NOT IN
                 (SELECT value FROM json_each(i.filter, '$.levels')) THEN 'filtered'
            WHEN json_array_length(i.filter, '$.names') > 0 AND s.name NOT IN
                 (SELECT value FROM json_each(i.filter, '$.names')) THEN 'filtered'
            WHEN json_array_length(i.filter, '$.tags') > 0 AND NOT EXISTS
                 (SELECT 1 FROM json_each(i.filter, '$.tags') AS wanted
                  JOIN json_each(s.tags) AS has ON has.value = wanted.value) THEN 'filtered'
            ELSE 'over_budget'
        END AS reason
    FROM indexes AS i CROSS JOIN skills AS s
    WHERE s.status = 'active' AND NOT EXISTS
        (SELECT 1 FROM index_entries AS e WHERE e.skill = s.id AND e.index_name = i.name);
    """)


@migrations()
def m004_search(db: Database) -> None:
    """Create the full-text search over a real table, kept by triggers."""
    _run(db, """
    CREATE TABLE skill_text (
        id INTEGER PRIMARY KEY REFERENCES skills (id),
        name TEXT NOT NULL,
        description TEXT NOT NULL,
        tags TEXT NOT NULL,
        headings TEXT NOT NULL,
        file_names TEXT NOT NULL,
        body TEXT NOT NULL,
        grams TEXT NOT NULL                 -- of the CJK runs in name, description and tags
    ) STRICT;

    CREATE VIRTUAL TABLE skills_fts USING fts5 (
        name, description, tags, headings, file_names, body, grams,
        content = 'skill_text', content_rowid = 'id', tokenize = 'porter unicode61'
    );
    CREATE TRIGGER skill_text_added AFTER INSERT ON skill_text BEGIN
        INSERT INTO skills_fts
            (rowid, name, description, tags, headings, file_names, body, grams)
        VALUES (new.id, new.name, new.description, new.tags, new.headings, new.file_names,
                new.body, new.grams);
    END;
    CREATE TRIGGER skill_text_removed AFTER DELETE ON skill_text BEGIN
        INSERT INTO skills_fts
            (skills_fts, rowid, name, description, tags, headings, file_names, body, grams)
        VALUES ('delete', old.id, old.name, old.description, old.tags, old.headings,
                old.file_names, old.body, old.grams);
    END;
    CREATE TRIGGER skill_text_changed AFTER UPDATE ON skill_text BEGIN
        INSERT INTO skills_fts
            (skills_fts, rowid, name, description, tags, headings, file_names, body, grams)
        VALUES ('delete', old.id, old.name, old.description, old.tags, old.headings,
                old.file_names, old.body, old.grams);
        INSERT INTO skills_fts
            (rowid, name, description, tags, headings, file_names, body, grams)
        VALUES (new.id, new.name, new.description, new.tags, new.headings, new.file_names,
                new.body, new.grams);
    END;
    """)


@migrations()
def m005_product_views(db: Database) -> None:
    """Create the views in the field names of the product specification."""
    _run(db, """
    CREATE VIEW skill_definitions AS
    SELECT s.id, s.skill_id AS skillId, s.name, s.description,
           s.file_inventory AS fileInventory, v.version AS currentVersion,
           s.status = 'active' AS isActive, v.skill_md_content
    FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id;

    CREATE VIEW skill_packages AS
    SELECT version, skill_md_hash, file_inventory, package_path, skill_id AS skillId
    FROM versions;
    """)


@migrations()
def m008_index_words_and_counts(db: Database) -> None:
    """Add the words of an index that can be set, and count what indexes may name as it changes.

    Counting 100,000 skills at every rebuild would cost more than the rebuild.
    """
    _run(db, """
    ALTER TABLE indexes ADD COLUMN instruction TEXT;     -- none: the format's own
    ALTER TABLE indexes ADD COLUMN how_to_search TEXT;   -- none: our own

    CREATE TABLE level_counts (
        level TEXT PRIMARY KEY,
        skills INTEGER NOT NULL             -- active ones that agents may start
    ) STRICT;
    INSERT INTO level_counts
        SELECT value, (SELECT count(*) FROM skills WHERE level = value AND status = 'active'
                       AND model_invocable = 1)
        FROM json_each('["enterprise", "personal", "project", "plugin"]');

    CREATE TRIGGER skill_counted AFTER INSERT ON skills
    WHEN new.status = 'active' AND new.model_invocable = 1 BEGIN
        UPDATE level_counts SET skills = skills + 1 WHERE level = new.level;
    END;
    CREATE TRIGGER skill_uncounted AFTER DELETE ON skills
    WHEN old.status = 'active' AND old.model_invocable = 1 BEGIN
        UPDATE level_counts SET skills = skills - 1 WHERE level = old.level;
    END;
    CREATE TRIGGER skill_recounted AFTER UPDATE OF status, level, model_invocable ON skills
    WHEN old.status != new.status OR old.level != new.level
        OR old.model_invocable != new.model_invocable BEGIN
        UPDATE level_counts SET skills = skills - 1
        WHERE level = old.level AND old.status = 'active' AND old.model_invocable = 1;
        UPDATE level_counts SET skills = skills + 1
        WHERE level = new.level AND new.status = 'active' AND new.model_invocable = 1;
    END;
    """)


@migrations()
def m010_outcomes(db: Database) -> None:
    """Create what runs of skills came to, as their runtimes say it."""
    _run(db, """
    CREATE TABLE outcomes (
        id INTEGER PRIMARY KEY,
        skill_id TEXT NOT NULL,
        run_id TEXT NOT NULL,
        revision INTEGER NOT NULL,          -- from 1; changed content of a run is the next one
        is_newest INTEGER NOT NULL CHECK (is_newest IN (0, 1)),
        skill INTEGER REFERENCES skills (id), -- none where the catalog does not know it
        version INTEGER REFERENCES versions (id) ON DELETE SET NULL,
        version_said TEXT,                  -- by the file
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
        importance_written REAL NOT NULL,
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
        quarantined_as TEXT,                -- none where the file could not be moved
        why TEXT NOT NULL,
        findings TEXT NOT NULL,
        rejected_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX outcome_rejections_in_place ON outcome_rejections (path)
        WHERE quarantined_as IS NULL;
    """)


@migrations()
def m007_held_removals(db: Database) -> None:
    """Remember where roots lie and which removals were accepted; say when all is quiet."""
    _run(db, """
    ALTER TABLE roots ADD COLUMN device TEXT;
    ALTER TABLE roots ADD COLUMN removals_accepted_at TEXT;
    ALTER TABLE health ADD COLUMN held_removals INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE health ADD COLUMN quiet_since TEXT;
    """)


@migrations()
def m008b_tags_in_index_order(db: Database) -> None:
    """Keep the tags of the skills that indexes may name, in the order in which they enter one."""
    _run(db, """
    CREATE TABLE index_tags (
        tag TEXT NOT NULL,
        level_rank INTEGER NOT NULL,
        priority REAL NOT NULL,
        name TEXT NOT NULL,
        skill INTEGER NOT NULL REFERENCES skills (id),
        PRIMARY KEY (tag, level_rank, priority DESC, name, skill)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX index_tags_by_skill ON index_tags (skill);
    INSERT INTO index_tags
        SELECT DISTINCT t.value, s.level_rank, ifnull(s.priority, 0), s.name, s.id
        FROM skills AS s JOIN json_each(s.tags) AS t
        WHERE s.status = 'active' AND s.model_invocable = 1;

    CREATE TRIGGER skill_tagged AFTER INSERT ON skills
    WHEN new.tags != '[]' AND new.status = 'active' AND new.model_invocable = 1 BEGIN
        INSERT INTO index_tags
            SELECT DISTINCT value, new.level_rank, ifnull(new.priority, 0), new.name, new.id
            FROM json_each(new.tags);
    END;
    CREATE TRIGGER skill_retagged
    AFTER UPDATE OF status, level, model_invocable, tags, priority, name ON skills
    WHEN (old.tags != '[]' OR new.tags != '[]') AND (
        old.status != new.status OR old.level != new.level OR old.tags != new.tags
        OR old.model_invocable != new.model_invocable OR old.name != new.name
        OR old.priority IS NOT new.priority) BEGIN
        DELETE FROM index_tags WHERE skill = old.id;
        INSERT INTO index_tags
            SELECT DISTINCT value, new.level_rank, ifnull(new.priority, 0), new.name, new.id
            FROM json_each(new.tags)
            WHERE new.status = 'active' AND new.model_invocable = 1;
    END;
    CREATE TRIGGER skill_untagged BEFORE DELETE ON skills WHEN old.tags != '[]' BEGIN
        DELETE FROM index_tags WHERE skill = old.id;
    END;
    """)


@migrations()
def m009_apexbridge(db: Database) -> None:
    """Create what skills declare for ApexBridge; the next scan fills it in."""
    _run(db, """
    CREATE TABLE apexbridge_skills (
        skill INTEGER PRIMARY KEY REFERENCES skills (id) ON DELETE CASCADE,
        type TEXT,
        protocol TEXT,
        timeout_ms INTEGER,
        memory_mb INTEGER,
        network TEXT,
        network_allowlist TEXT NOT NULL,    -- JSON list, as the other lists
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
    """)


@migrations()
def m006_packages(db: Database) -> None:
    """Add what publication needs to know: what a version said of itself, and since when it rests.

    `described` is what `skills` had of a version and `versions` has not, as JSON, so that it can
    be returned to; `retired_at` is since when a package is no longer what agents are given.
    """
    _run(db, """
    ALTER TABLE versions ADD COLUMN described TEXT NOT NULL DEFAULT '{}';
    ALTER TABLE versions ADD COLUMN retired_at TEXT;
    ALTER TABLE health ADD COLUMN packages_folder TEXT;
    CREATE INDEX versions_retired ON versions (retired_at) WHERE package_path IS NOT NULL;
    """)


@migrations()
def m011_aliases(db: Database) -> None:
    """Remember which skill folders are reached through a link."""
    _run(db, """
    ALTER TABLE skills ADD COLUMN is_alias INTEGER NOT NULL DEFAULT 0
        CHECK (is_alias IN (0, 1));
    """)


@migrations()
def m012_errors_first(db: Database) -> None:
    """Find the errors among many findings, which the status asks for, without reading them all."""
    _run(db, "CREATE INDEX findings_by_severity ON findings (severity);")


@migrations()
def m011_facets(db: Database) -> None:
    """Say of each skill whether it has scripts, and count by the columns that people narrow by.

    Without these indexes each facet reads all skills, and together they take twice as long as
    the rest of the page.
    """
    _run(db, """
    ALTER TABLE skills ADD COLUMN has_scripts INTEGER
        GENERATED ALWAYS AS (json_extract(file_inventory, '$.hasScripts')) VIRTUAL;
    CREATE INDEX skills_by_level ON skills (level);
    CREATE INDEX skills_by_spec_valid ON skills (spec_valid);
    CREATE INDEX skills_by_has_scripts ON skills (has_scripts) WHERE has_scripts IS NOT NULL;
    CREATE INDEX skills_by_plugin ON skills (plugin) WHERE plugin IS NOT NULL;
    CREATE INDEX skills_by_license ON skills (license) WHERE license IS NOT NULL;
    CREATE INDEX skills_by_category ON skills (category) WHERE category IS NOT NULL;
    """)


def _run(db: Database, script: str) -> None:
    """Run statements one by one; `executescript` would commit the migration's transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            db.execute(statement)
            statement = ""
