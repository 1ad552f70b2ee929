"""The full-text search and the views in the field names of the product specification."""

SEARCH = """
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

BODIES_ONCE = """
DROP TRIGGER skill_text_removed;
DROP TABLE skills_fts;
ALTER TABLE skill_text RENAME TO texts_with_bodies;
CREATE TABLE skill_text (
    id INTEGER PRIMARY KEY REFERENCES skills (id),
    version INTEGER NOT NULL REFERENCES versions (id),  -- in whose SKILL.md the body stands
    name TEXT NOT NULL,
    description TEXT NOT NULL,
    tags TEXT NOT NULL,
    headings TEXT NOT NULL,
    file_names TEXT NOT NULL,
    grams TEXT NOT NULL,                -- of the CJK runs in name, description and tags
    body_from INTEGER NOT NULL,         -- its first byte, from 1, where line ends are plain
    body_bytes INTEGER NOT NULL
) STRICT;
INSERT INTO skill_text
    SELECT t.id, v.id, t.name, t.description, t.tags, t.headings, t.file_names, t.grams,
           first_byte(v.skill_md_content, t.body), length(CAST(t.body AS BLOB))
    FROM texts_with_bodies AS t JOIN skills AS s ON s.id = t.id
    JOIN versions AS v ON v.id = s.current_version_id;
DROP TABLE texts_with_bodies;

-- As bytes: of a text that holds a NUL, SQLite gives no part behind it.
CREATE VIEW searched_texts AS
SELECT t.id, t.name, t.description, t.tags, t.headings, t.file_names,
       CAST(substr(CAST(
           CASE WHEN instr(v.skill_md_content, char(13))
                THEN replace(replace(v.skill_md_content, char(13, 10), char(10)),
                             char(13), char(10))
                ELSE v.skill_md_content END
           AS BLOB), t.body_from, t.body_bytes) AS TEXT) AS body,
       t.grams
FROM skill_text AS t JOIN versions AS v ON v.id = t.version;

CREATE VIRTUAL TABLE skills_fts USING fts5 (
    name, description, tags, headings, file_names, body, grams,
    content = 'searched_texts', content_rowid = 'id', tokenize = 'porter unicode61'
);
-- The words of one batch are gathered in memory, rather than merged from a piece for each megabyte.
INSERT INTO skills_fts (skills_fts, rank) VALUES ('hashsize', 8388608);
INSERT INTO skills_fts (skills_fts) VALUES ('rebuild');
CREATE TRIGGER skill_text_removed BEFORE DELETE ON skill_text BEGIN
    INSERT INTO skills_fts
        (skills_fts, rowid, name, description, tags, headings, file_names, body, grams)
    SELECT 'delete', id, name, description, tags, headings, file_names, body, grams
    FROM searched_texts WHERE id = old.id;
END;
"""

TEXTS_COME_TOGETHER = """
DROP TRIGGER skill_text_added;
DROP TRIGGER skill_text_changed;
"""
