"""Columns of names: namespaces, incumbents and conflicts."""

NAMES = """
ALTER TABLE skills ADD COLUMN namespace TEXT; -- of its plugin or owner
ALTER TABLE skills ADD COLUMN name_since TEXT; -- when it took its skill_id
ALTER TABLE skills ADD COLUMN preferred_at TEXT; -- by `skilldrop prefer`
-- 1 if it lost its name to other content of the same level, and nobody has decided on that.
ALTER TABLE skills ADD COLUMN is_conflict INTEGER NOT NULL DEFAULT 0;
ALTER TABLE skills ADD COLUMN bare_name TEXT GENERATED ALWAYS AS (
    iif(namespace IS NULL, name, substr(name, length(namespace) + 2))) VIRTUAL;
CREATE INDEX skills_by_bare_name ON skills (bare_name) WHERE namespace IS NOT NULL;
CREATE INDEX skills_by_namespace ON skills (namespace) WHERE namespace IS NOT NULL;
CREATE INDEX skills_in_conflict ON skills (is_conflict, root, path) WHERE is_conflict = 1;
"""
INCUMBENTS = """
UPDATE skills SET namespace = plugin,
    name_since = CASE status WHEN 'active' THEN first_seen
        ELSE strftime('%Y-%m-%dT%H:%M:%f+00:00', 'now') END
    WHERE status IN ('active', 'shadowed');
"""
