"""Held skills, and withheld ones: those held at a version whose files are lost.

A skill is held by a pin, or because its newest version waits for review or was rejected there.
Damage does not lift a hold. A withheld skill keeps its skill_id, and agents get nothing of it until
it is released, held at another version, or its folder has the same content again. Its status is
`shadowed`, with no skill that it is shadowed by.
"""

from collections.abc import Mapping
from typing import Any

MAY_BE_PUBLISHED = "ifnull({}.review, 'approved') = 'approved'"
"""SQL condition: a version, whose alias is the field, neither waits for review nor failed it."""
HAS_APPROVAL = """
    (SELECT decision FROM reviews WHERE digest = v.digest ORDER BY id DESC LIMIT 1) IS 'approved'
"""
"""SQL condition: the newest decision on the content of a version `v` is an approval."""
NEWEST = "(SELECT max(n.id) FROM versions AS n WHERE n.skill = s.id)"
"""SQL expression: the newest version of a skill `s`."""
IS_HELD = f"""
    (s.pinned_version_id IS NOT NULL OR EXISTS (SELECT 1 FROM versions AS newest
        WHERE newest.id = {NEWEST} AND NOT {MAY_BE_PUBLISHED.format("newest")}))
"""
"""SQL condition: the skill `s` stays at its version, whatever its folder has."""
AWAITING_REVIEW = f"""
    versions AS v INDEXED BY versions_by_review JOIN skills AS s ON s.id = v.skill
    WHERE v.review = 'waits' AND v.id = {NEWEST} AND s.status IN ('active', 'shadowed', 'pending')
"""
"""SQL after FROM: the versions `v` that wait for review, each with its skill `s`."""
CANNOT_BE_GIVEN = f"""
    (s.digest = '' OR {IS_HELD} AND EXISTS (
        SELECT 1 FROM versions AS held WHERE held.id = s.current_version_id
            AND held.package_path IS NULL AND held.digest IS NOT s.seen_digest))
"""
"""SQL condition: the held version of a skill `s` is lost, and its folder has other content.

A version whose content could not be recovered has an empty digest.
"""
IS_WITHHELD = "(s.status = 'shadowed' AND s.shadowed_by IS NULL)"
"""SQL condition: the skill `s`, which should be active, is withheld."""


def is_withheld(skill: Mapping[str, Any]) -> bool:
    """Return whether a row of `skills` is withheld."""
    return skill["status"] == "shadowed" and skill["shadowed_by"] is None


def reason(version: str, *, is_held: bool) -> str:
    """Return why a skill is withheld, as part of a sentence."""
    return f"{'held at' if is_held else 'left with'} version {version}, whose files are lost"
