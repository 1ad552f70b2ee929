"""Findings of the routing tests of published skills, as of their publication."""

import json

from catalog.database.queries import Writer
from catalog.model.finding import ROUTING_CODES
from catalog.reading.search import routing
from catalog.writing.rows import derived

LISTENER = "routing"


def run_next(db: Writer) -> bool:
    """Run the tests of the next changed skill that has any; return False if none is left."""
    changed = db.row(_NEXT)
    if not changed:
        db.execute(_PASS, [None])
        return False
    _, findings = routing.run(db, changed["id"], json.loads(changed["files"]))
    with db.transaction():
        skill = changed["id"], changed["root"], changed["path"]
        derived.replace_findings(db, ROUTING_CODES, {skill: findings})
        db.execute(_PASS, [changed["event"]])
    return True


# Only active skills have such findings, in roots with the profile.
_NEXT = f"""
    SELECT i.id AS event, s.id, s.root, s.path,
           (SELECT json_group_array(json_array(f.path, f.text)) FROM file_contents AS f
            WHERE f.version = s.current_version_id AND f.path GLOB 'evals/*.json'
                AND s.status = 'active' AND (SELECT profiles FROM roots WHERE path = s.root)
                    LIKE '%"advice"%') AS files
    FROM ingestions AS i CROSS JOIN skills AS s ON s.id = i.skill
    WHERE i.id > (SELECT ifnull(json_extract(delivered, '$.{LISTENER}'), 0) FROM health)
        AND (files != '[]'
             OR EXISTS (SELECT 1 FROM findings WHERE skill = s.id AND code IN {ROUTING_CODES}))
    ORDER BY i.id LIMIT 1
"""
_PASS = f"""
    UPDATE health SET delivered = json_set(delivered, '$.{LISTENER}', passed.event)
    FROM (SELECT coalesce(?, (SELECT max(id) FROM ingestions), 0) AS event) AS passed
    WHERE json_extract(delivered, '$.{LISTENER}') IS NOT passed.event
"""
