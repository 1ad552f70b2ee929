"""Smaller rows and indexes: repeated texts are left out, and generated columns have them whole."""

FILE_CONTENTS = """
DROP VIEW file_contents;
CREATE VIEW file_contents AS
SELECT f.*, CAST(unpack_file(f.packed, v.packed) AS TEXT) AS text
FROM files AS f JOIN versions AS v ON v.id = f.version;
"""
SEARCHED_TEXTS = """
DROP TABLE search_vocabulary;
DROP TABLE skills_fts;
DROP TABLE skills_short_fts;
DROP TRIGGER skill_text_removed;
DROP VIEW searched_texts;
ALTER TABLE skill_text RENAME TO long_skill_text;
CREATE TABLE skill_text (
    id INTEGER PRIMARY KEY REFERENCES skills (id),
    version INTEGER NOT NULL REFERENCES versions (id),  -- whose SKILL.md has the body
    name TEXT NOT NULL,
    description TEXT,                   -- if it is not that of the skill
    tags TEXT NOT NULL,
    headings TEXT NOT NULL,
    file_names TEXT NOT NULL,
    grams TEXT NOT NULL,                -- pairs of CJK characters in name, description and tags
    body_grams TEXT NOT NULL,           -- the same of the body
    body_from INTEGER NOT NULL,         -- its first byte, from 1, with plain line ends
    body_bytes INTEGER NOT NULL
) STRICT;
INSERT INTO skill_text SELECT t.id, t.version, t.name, nullif(t.description, s.description), t.tags,
    t.headings, t.file_names, t.grams, t.body_grams, t.body_from, t.body_bytes
    FROM long_skill_text AS t JOIN skills AS s ON s.id = t.id;
DROP TABLE long_skill_text;
-- SQLite searches here for referring rows when a version is deleted.
CREATE INDEX skill_text_by_version ON skill_text (version);
CREATE VIEW searched_texts AS
SELECT t.id, t.name, ifnull(t.description, s.description) AS description, t.tags, t.headings,
       t.file_names,
       CAST(unpack_body(v.packed, t.body_from, t.body_bytes) AS TEXT) AS body,
       t.grams, t.body_grams
FROM skill_text AS t JOIN skills AS s ON s.id = t.id JOIN versions AS v ON v.id = t.version;
-- A text can be removed from the index only as it was added.
CREATE TRIGGER skill_described BEFORE UPDATE OF description ON skills
WHEN new.description != old.description BEGIN
    UPDATE skill_text SET description = old.description
    WHERE id = old.id AND description IS NULL;
END;

-- The column of most words is first: SQLite stores the number of every other one with each word.
CREATE VIRTUAL TABLE skills_fts USING fts5 (
    body, name, description, tags, headings, file_names, grams, body_grams,
    content = 'searched_texts', content_rowid = 'id', tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE skills_short_fts USING fts5 (
    description, name, tags, grams,
    content = 'searched_texts', content_rowid = 'id', tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE search_vocabulary USING fts5vocab ('skills_short_fts', 'row');
INSERT INTO skills_fts (skills_fts, rank) VALUES ('hashsize', 8388608);
INSERT INTO skills_short_fts (skills_short_fts, rank) VALUES ('hashsize', 8388608);
INSERT INTO skills_fts (skills_fts) VALUES ('rebuild');
INSERT INTO skills_short_fts (skills_short_fts) VALUES ('rebuild');
CREATE TRIGGER skill_text_removed BEFORE DELETE ON skill_text BEGIN
    INSERT INTO skills_fts
        (skills_fts, rowid, name, description, tags, headings, file_names, body, grams,
         body_grams)
    SELECT 'delete', id, name, description, tags, headings, file_names, body, grams, body_grams
    FROM searched_texts WHERE id = old.id;
    INSERT INTO skills_short_fts (skills_short_fts, rowid, name, description, tags, grams)
    SELECT 'delete', id, name, description, tags, grams FROM searched_texts WHERE id = old.id;
END;
"""
# SQLite drops a column row by row, so its texts are emptied first.
SHORT_TEXTS = """
ALTER TABLE {0.table} ADD COLUMN {0.stored} TEXT NOT NULL DEFAULT '{0.empty}';
UPDATE {0.table} SET {0.stored} = {0.shortening}, {0.column} = '';
ALTER TABLE {0.table} DROP COLUMN {0.column};
ALTER TABLE {0.table} ADD COLUMN {0.column} TEXT GENERATED ALWAYS AS ({0.whole}) VIRTUAL;
"""
