"""Withheld skills: held at a version whose files are lost.

The operator decided on the hold, and damage does not lift it. Such a skill keeps its skill_id, and
agents get nothing of it until it is released, held at another version, or its folder has the same
content again. Its status is `shadowed`, with no skill that it is shadowed by.
"""

from collections.abc import Mapping
from typing import Any

CANNOT_BE_GIVEN = """
    (s.digest = '' OR s.pinned_version_id IS NOT NULL AND EXISTS (
        SELECT 1 FROM versions AS held WHERE held.id = s.pinned_version_id
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
