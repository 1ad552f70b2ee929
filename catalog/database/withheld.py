"""The rule of withheld skills: held at a version that can no longer be read.

The hold is a decision of the operator's, and damage does not lift it. So such a skill keeps its
name against its rivals, and agents are given nothing of it, until it is released, held at another
version, or its folder has the very content again. It has the status of what is accepted and not
published, `shadowed`, with no other skill that it is shadowed by.
"""

from collections.abc import Mapping
from typing import Any

CANNOT_BE_GIVEN = """
    (s.digest = '' OR s.pinned_version_id IS NOT NULL AND EXISTS (
        SELECT 1 FROM versions AS held WHERE held.id = s.pinned_version_id
            AND held.package_path IS NULL AND held.digest IS NOT s.seen_digest))
"""
"""Whether the version that stands for a skill `s` is lost, and is not what its folder holds.

A version of which recovery could not bring over the content has an empty digest.
"""
IS_WITHHELD = "(s.status = 'shadowed' AND s.shadowed_by IS NULL)"
"""Whether a skill `s`, among those of one skill_id the one that should be active, is withheld."""


def is_withheld(skill: Mapping[str, Any]) -> bool:
    """Tell of a row of `skills` whether it is withheld."""
    return skill["status"] == "shadowed" and skill["shadowed_by"] is None


def reason(version: str, *, is_held: bool) -> str:
    """Return why a skill is withheld, as a part of a sentence."""
    return f"{'held at' if is_held else 'left with'} version {version}, whose files are lost"
