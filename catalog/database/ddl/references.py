"""Table of references between skills."""

REFERENCES = """
CREATE TABLE skill_references (
    id INTEGER PRIMARY KEY,
    skill INTEGER NOT NULL REFERENCES skills (id) ON DELETE CASCADE,
    kind TEXT NOT NULL CHECK (kind IN ('link', 'declared')),
    target TEXT NOT NULL,               -- relative to its file, or the name of a skill
    path TEXT NOT NULL,                 -- of its file, relative to the skill folder
    line INTEGER NOT NULL,
    field TEXT,                         -- of the frontmatter, if it is declared
    place TEXT,                         -- absolute path that a link leads to
    wanted TEXT,                        -- skill_id of the declared name
    to_skill INTEGER REFERENCES skills (id) ON DELETE SET NULL,
    problem TEXT                        -- why agents cannot follow it
) STRICT;
CREATE INDEX skill_references_by_skill ON skill_references (skill, kind);
CREATE INDEX skill_references_by_target ON skill_references (to_skill, kind)
    WHERE to_skill IS NOT NULL;
CREATE INDEX skill_references_by_place ON skill_references (place) WHERE place IS NOT NULL;
CREATE INDEX skill_references_by_name ON skill_references (wanted) WHERE wanted IS NOT NULL;
"""
JUDGE_AGAIN = """
UPDATE skills SET fingerprint = '' WHERE status IN ('active', 'shadowed');
"""
