"""Smaller rows and indexes: repeated texts are left out, and generated columns have them whole."""

# The column of most words comes first: SQLite stores the number of every other one with each word.
BODY_FIRST = """
DROP TABLE search_vocabulary;
DROP TABLE skills_fts;
DROP TABLE skills_short_fts;
CREATE VIRTUAL TABLE skills_fts USING fts5 (
    body, name, description, tags, headings, file_names, grams, body_grams,
    content = 'searched_texts', content_rowid = 'id', tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE skills_short_fts USING fts5 (
    description, name, tags, grams,
    content = 'skill_text', content_rowid = 'id', tokenize = 'porter unicode61'
);
CREATE VIRTUAL TABLE search_vocabulary USING fts5vocab ('skills_short_fts', 'row');
INSERT INTO skills_fts (skills_fts, rank) VALUES ('hashsize', 8388608);
INSERT INTO skills_short_fts (skills_short_fts, rank) VALUES ('hashsize', 8388608);
INSERT INTO skills_fts (skills_fts) VALUES ('rebuild');
INSERT INTO skills_short_fts (skills_short_fts) VALUES ('rebuild');
"""
# SQLite drops a column row by row, so its texts are emptied first.
SHORT_TEXTS = """
ALTER TABLE {0.table} ADD COLUMN {0.stored} TEXT NOT NULL DEFAULT '{0.empty}';
UPDATE {0.table} SET {0.stored} = {0.shortening}, {0.column} = '';
ALTER TABLE {0.table} DROP COLUMN {0.column};
ALTER TABLE {0.table} ADD COLUMN {0.column} TEXT GENERATED ALWAYS AS ({0.whole}) VIRTUAL;
"""
