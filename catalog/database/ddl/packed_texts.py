"""Columns with the texts of versions and files, packed, and views that show the texts."""

# SQLite drops a column row by row, so the texts are emptied first.
PACK = """
ALTER TABLE versions ADD COLUMN packed BLOB NOT NULL DEFAULT x''; -- with zstd
UPDATE versions SET packed = pack(frontmatter, described, skill_md_content),
    frontmatter = '', described = '', skill_md_content = '';
ALTER TABLE files ADD COLUMN packed BLOB; -- the text, with zstd
UPDATE files SET packed = pack(text), text = NULL WHERE text IS NOT NULL;
DROP VIEW skill_definitions;
DROP VIEW searched_texts;
CREATE VIEW searched_texts AS
SELECT t.id, t.name, t.description, t.tags, t.headings, t.file_names,
       CAST(unpack_body(v.packed, t.body_from, t.body_bytes) AS TEXT) AS body,
       t.grams, t.body_grams
FROM skill_text AS t JOIN versions AS v ON v.id = t.version;
ALTER TABLE versions DROP COLUMN frontmatter;
ALTER TABLE versions DROP COLUMN described;
ALTER TABLE versions DROP COLUMN skill_md_content;
ALTER TABLE files DROP COLUMN text;
CREATE VIEW version_contents AS
SELECT *,
       CAST(unpack(packed, 0, 3) AS TEXT) AS frontmatter,
       CAST(unpack(packed, 1, 3) AS TEXT) AS described, -- JSON: columns of skills
       CAST(unpack(packed, 2, 3) AS TEXT) AS skill_md_content
FROM versions;
CREATE VIEW file_contents AS
SELECT *, CAST(unpack(packed, 0, 1) AS TEXT) AS text FROM files;
CREATE VIEW skill_definitions AS
SELECT s.id, s.skill_id AS skillId, s.name, s.description,
       s.file_inventory AS fileInventory, v.version AS currentVersion,
       s.status = 'active' AS isActive,
       CAST(unpack(v.packed, 2, 3) AS TEXT) AS skill_md_content
FROM skills AS s LEFT JOIN versions AS v ON v.id = s.current_version_id;
"""
