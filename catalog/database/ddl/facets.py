"""Table of what lists of skills are filtered by, and the indexes from which values are counted."""

FACETS = """
-- Tags, the names of tools in `allowed-tools`, and hosts of URLs in the files.
CREATE TABLE version_facets (
    version INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
    facet TEXT NOT NULL CHECK (facet IN ('tag', 'tool', 'host', 'missing')),
    value TEXT NOT NULL COLLATE NOCASE,
    PRIMARY KEY (version, facet, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX version_facets_by_value ON version_facets (facet, value, version);
-- Its plugin or owner, else the declared author without an address, else the root's last part.
ALTER TABLE skills ADD COLUMN publisher TEXT GENERATED ALWAYS AS (coalesce(namespace,
    nullif(trim(iif(instr(author, '<') > 1, substr(author, 1, instr(author, '<') - 1), author)),
           ''),
    replace(root, rtrim(root, replace(root, '/', '')), ''))) VIRTUAL;
CREATE INDEX findings_of_safety ON findings (skill, severity) WHERE profile = 'safety';
-- Lists are filtered, sorted and counted from this index; the rows of skills are large.
DROP INDEX skills_by_status;
CREATE INDEX skills_by_status ON skills (status, last_changed, level, publisher, license, category,
    has_scripts, spec_valid, model_invocable, current_version_id, root, estimated_tokens, name);
"""
MARK_MISSING = """
INSERT INTO version_facets (version, facet, value)
SELECT id, 'missing', '' FROM versions WHERE {};
"""
