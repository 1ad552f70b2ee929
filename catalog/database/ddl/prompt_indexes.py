"""Tables of prompt indexes: settings, texts, publications, entries, counts and tags."""

PROMPT_INDEXES = """
CREATE TABLE indexes (
    name TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    format TEXT NOT NULL,
    language TEXT NOT NULL,
    filter TEXT NOT NULL,               -- JSON: levels, tags, names; an empty list is "all"
    featured TEXT NOT NULL,             -- JSON list of names
    budget_chars INTEGER,               -- of the whole text; null: budget_tokens counts
    budget_tokens INTEGER,
    overflow TEXT NOT NULL CHECK (overflow IN ('fit', 'exclude')),
    location_base TEXT,
    last_build_id INTEGER REFERENCES index_builds (id) DEFERRABLE INITIALLY DEFERRED,
    instruction TEXT,                   -- null: that of the format
    how_to_search TEXT,                 -- null: the default sentence
    locations TEXT NOT NULL DEFAULT 'current' CHECK (locations IN ('current', 'version')),
    per_skill TEXT,                     -- JSON: least, most, unit; null: those of the format
    room_factors TEXT NOT NULL          -- JSON object: of featured skills, and of each level
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
    package_path TEXT,                  -- of the version in the text; kept while it is
    shown TEXT NOT NULL,                -- words of the description that agents see
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

-- Triggers count: counting 100,000 skills at every build costs more than the build.
CREATE TABLE level_counts (
    level TEXT PRIMARY KEY,
    skills INTEGER NOT NULL             -- active, and agents may start them
) STRICT;
INSERT INTO level_counts VALUES
    ('enterprise', 0), ('personal', 0), ('project', 0), ('plugin', 0);

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

CREATE TABLE index_tags (
    tag TEXT NOT NULL,
    level_rank INTEGER NOT NULL,
    priority REAL NOT NULL,
    name TEXT NOT NULL,
    skill INTEGER NOT NULL REFERENCES skills (id),
    PRIMARY KEY (tag, level_rank, priority DESC, name, skill)
) STRICT, WITHOUT ROWID;
CREATE INDEX index_tags_by_skill ON index_tags (skill);

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
"""
