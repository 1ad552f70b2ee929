"""Full-text search, and views in the field names of the product specification."""

SEARCH = """
CREATE TABLE skill_text (
    id INTEGER PRIMARY KEY REFERENCES skills (id),
    version INTEGER NOT NULL REFERENCES versions (id),  -- whose SKILL.md has the body
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    tags TEXT NOT NULL,
    headings TEXT NOT NULL,
    file_names TEXT NOT NULL,
    grams TEXT NOT NULL,                -- pairs of CJK characters in name, description and tags
    body_grams TEXT NOT NULL,           -- the same of the body
    body_from INTEGER NOT NULL,         -- its first byte, from 1, with plain line ends
    body_bytes INTEGER NOT NULL
) STRICT;
-- SQLite searches here for referring rows when a version is deleted.
CREATE INDEX skill_text_by_version ON skill_text (version);

-- As bytes: SQLite cuts a text at a NUL.
CREATE VIEW searched_texts AS
SELECT t.id, t.name, t.description, t.tags, t.headings, t.file_names,
       CAST(substr(CAST(
           CASE WHEN instr(v.skill_md_content, char(13))
                THEN replace(replace(v.skill_md_content, char(13, 10), char(10)),
                             char(13), char(10))
                ELSE v.skill_md_content END
           AS BLOB), t.body_from, t.body_bytes) AS TEXT) AS body,
       t.grams, t.body_grams
FROM skill_text AS t JOIN versions AS v ON v.id = t.version;

CREATE VIRTUAL TABLE skills_fts USING fts5 (
    name, description, tags, headings, file_names, body, grams, body_grams,
    content = 'searched_texts', content_rowid = 'id', tokenize = 'porter unicode61'
);
-- A match in these few words counts once more.
CREATE VIRTUAL TABLE skills_short_fts USING fts5 (
    name, description, tags, grams,
    content = 'skill_text', content_rowid = 'id', tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE search_vocabulary USING fts5vocab ('skills_short_fts', 'row');
-- Words of one batch stay in memory, instead of being merged from a segment for each megabyte.
INSERT INTO skills_fts (skills_fts, rank) VALUES ('hashsize', 8388608);
INSERT INTO skills_short_fts (skills_short_fts, rank) VALUES ('hashsize', 8388608);
-- The full-text writer adds rows; this trigger only removes them.
CREATE TRIGGER skill_text_removed BEFORE DELETE ON skill_text BEGIN
    INSERT INTO skills_fts
        (skills_fts, rowid, name, description, tags, headings, file_names, body, grams,
         body_grams)
    SELECT 'delete', id, name, description, tags, headings, file_names, body, grams, body_grams
    FROM searched_texts WHERE id = old.id;
    INSERT INTO skills_short_fts (skills_short_fts, rowid, name, description, tags, grams)
    VALUES ('delete', old.id, old.name, old.description, old.tags, old.grams);
END;
"""

PRODUCT_VIEWS = """
CREATE VIEW skill_definitions AS
SELECT s.id, s.skill_id AS skillId, s.name, s.description,
       s.file_inventory AS fileInventory, v.version AS currentVersion,
       s.status = 'active' AS isActive, v.skill_md_content
FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id;

CREATE VIEW skill_packages AS
SELECT version, skill_md_hash, file_inventory, package_path, skill_id AS skillId
FROM versions;
"""
