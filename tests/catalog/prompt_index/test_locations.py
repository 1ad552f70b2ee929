"""Locations of the files of a skill for agents."""

from typing import Any

import pytest

from catalog.prompt_index.locations import NOWHERE, Bases, Locations
from catalog.prompt_index.spec import IndexSpec

BASES = Bases("/data/skills", "/data/packages")
SKILL = {
    "skill_id": "my-技能",
    "folder": "my-技能",
    "package_path": "my-技能/20261122-081500",
    "skill_md_name": "SKILL.md",
    "root": "/root",
    "path": "My Skill",
}
IN_PLACE = {"package_path": None, "folder": None}


@pytest.mark.parametrize(
    ("settings", "skill", "location"),
    [
        ({}, {}, "/data/skills/my-技能/SKILL.md"),
        ({"location_base": "/srv/skills"}, {}, "/srv/skills/my-技能/SKILL.md"),
        ({"location_base": "/srv/skills/"}, {}, "/srv/skills/my-技能/SKILL.md"),
        ({}, {"folder": None}, "/data/packages/my-技能/current/SKILL.md"),
        (
            {"location_base": "/srv/skills"},
            {"folder": None},
            "/data/packages/my-技能/current/SKILL.md",
        ),
        ({"format": "semibot"}, {}, "/data/packages/my-技能/current/SKILL.md"),
        (
            {"format": "semibot", "location_base": "/srv/packages"},
            {},
            "/srv/packages/my-技能/current/SKILL.md",
        ),
        ({}, IN_PLACE, "/root/My Skill/SKILL.md"),
        ({"location_base": "/srv/skills"}, IN_PLACE, "/root/My Skill/SKILL.md"),
        (
            {"location_base": "https://h:1/skills"},
            {},
            "https://h:1/skills/my-%E6%8A%80%E8%83%BD/files/SKILL.md",
        ),
        (
            {"location_base": "http://h/skills/"},
            IN_PLACE,
            "http://h/skills/my-%E6%8A%80%E8%83%BD/files/SKILL.md",
        ),
    ],
)
def test_a_location_is_below_its_base(
    settings: dict[str, Any], skill: dict[str, Any], location: str
) -> None:
    """The published skills, their versions, a URL of the site, or the root without a package."""
    assert Locations(BASES, IndexSpec(**settings)).of_skill_md(SKILL | skill) == location


@pytest.mark.parametrize(
    ("settings", "bases", "pattern"),
    [
        ({}, NOWHERE, None),
        ({}, BASES, "/data/skills/NAME/"),
        ({"format": "semibot"}, BASES, "/data/packages/NAME/current/"),
        ({"location_base": "/p/"}, BASES, "/p/NAME/"),
        ({"location_base": "/p/", "format": "semibot"}, BASES, "/p/NAME/current/"),
        ({"location_base": "http://h/skills"}, BASES, "http://h/skills/NAME/files/"),
    ],
)
def test_one_pattern_locates_all_skills(
    settings: dict[str, Any], bases: Bases, pattern: str | None
) -> None:
    """With a name in place of NAME, the pattern is the folder of that skill."""
    locations = Locations(bases, IndexSpec(**settings))
    assert locations.pattern == pattern
    if pattern:
        one = locations.of_skill_md(SKILL | {"skill_id": "a", "folder": "a"})
        assert one == pattern.replace("NAME", "a") + "SKILL.md"
