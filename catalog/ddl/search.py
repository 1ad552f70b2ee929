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

TEXTS_COME_TOGETHER = """
DROP TRIGGER skill_text_added;
DROP TRIGGER skill_text_changed;
"""
