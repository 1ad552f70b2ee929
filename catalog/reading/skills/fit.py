"""Skills for a directory that has no more than its agent tells its model whole."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from catalog.database.queries import Database
from catalog.listings import finder
from catalog.listings.agents import AGENTS
from catalog.listings.told import described
from catalog.listings.told import fitting as first_of
from catalog.model.setting import LinkedDirectory
from catalog.reading.skills.offered import AgentEntry


def fitting(
    db: Database, spec: LinkedDirectory, data: Path, entries: Sequence[AgentEntry]
) -> tuple[list[AgentEntry], str | None]:
    """Return the entries for which a directory has room, and the SKILL.md of its finder.

    Featured skills come first. A skill of the finder's name is the finder, else one is written; it
    is None if all skills have room. Skills that only users may start take none.
    """
    agent = AGENTS.get(spec.agent or "")
    if not agent:  # of a newer version
        return list(entries), None
    (featured,) = db.execute(_FEATURED, [spec.index]).fetchone() or ("[]",)
    order = {name: place for place, name in enumerate(json.loads(featured))}
    rows = {row["skill_id"]: row for row in db.query(_TEXTS)}
    texts, tagged = {}, []
    for entry in sorted(entries, key=lambda entry: order.get(entry.skill, len(order))):
        if not entry.is_for_users and (row := rows.get(entry.skill_id)):
            texts[entry.name] = described(agent, row["description"], row["when_to_use"])
            tagged.append((entry.name, json.loads(row["tags"])))
    skill_md, beside = None, {}
    if spec.finder in texts:
        texts = {spec.finder: texts[spec.finder]} | texts  # it comes first
    else:
        program = str(Path(sys.executable).with_name("skilldrop"))
        skill_md = finder.skill_md(spec.finder, tagged, program, str(data))
        beside = {spec.finder: finder.description_in(skill_md)}
    found = first_of(agent, texts, beside)
    left_out = texts.keys() - set(found)
    return [each for each in entries if each.name not in left_out], skill_md if left_out else None


_FEATURED = "SELECT featured FROM indexes ORDER BY name = ? DESC, position LIMIT 1"
_TEXTS = """
    SELECT skill_id, description, tags, json_extract(frontmatter, '$.when_to_use') AS when_to_use
    FROM skills WHERE status = 'active'
"""
