"""Locations of the files of a skill for agents."""

from typing import Any

import pytest

from catalog.prompt_index import locations
from catalog.prompt_index.locations import NOWHERE, Bases

BASES = Bases("/data/skills", "/data/packages")


@pytest.mark.parametrize(
    ("base", "options", "location"),
    [
        (None, {}, "/data/skills/my-技能/SKILL.md"),
        ("/srv/skills", {}, "/srv/skills/my-技能/SKILL.md"),
        ("/srv/skills/", {}, "/srv/skills/my-技能/SKILL.md"),
        (None, {"name": None}, "/data/packages/my-技能/current/SKILL.md"),
        ("/srv/skills", {"name": None}, "/data/packages/my-技能/current/SKILL.md"),
        (None, {"in_packages": True}, "/data/packages/my-技能/current/SKILL.md"),
        ("/srv/packages", {"in_packages": True}, "/srv/packages/my-技能/current/SKILL.md"),
        (
            None,
            {"package_path": "old/20261122-081500"},
            "/data/packages/old/20261122-081500/SKILL.md",
        ),
        (None, {"is_package": False, "name": None}, "/root/My Skill/SKILL.md"),
        ("/srv/skills", {"is_package": False, "name": None}, "/root/My Skill/SKILL.md"),
        ("https://h:1/skills", {}, "https://h:1/skills/my-%E6%8A%80%E8%83%BD/files/SKILL.md"),
        (
            "http://h/skills/",
            {"is_package": False, "name": None},
            "http://h/skills/my-%E6%8A%80%E8%83%BD/files/SKILL.md",
        ),
    ],
)
def test_a_location_is_below_its_base(
    base: str | None, options: dict[str, Any], location: str
) -> None:
    """The published skills, their versions, a URL of the site, or the root without a package."""
    usual = {"skill_id": "my-技能", "file_name": "SKILL.md", "root_folder": "/root/My Skill"}
    given: dict[str, Any] = {"is_package": True, "name": "my-技能"} | usual | options
    assert locations.of_skill_md(base, BASES, **given) == location


@pytest.mark.parametrize(
    ("base", "bases", "options", "pattern"),
    [
        (None, NOWHERE, {}, None),
        (None, BASES, {}, "/data/skills/NAME/"),
        (None, BASES, {"in_packages": True}, "/data/packages/NAME/current/"),
        ("/p/", BASES, {}, "/p/NAME/"),
        ("/p/", BASES, {"in_packages": True}, "/p/NAME/current/"),
        ("http://h/skills", BASES, {}, "http://h/skills/NAME/files/"),
    ],
)
def test_one_pattern_locates_all_skills(
    base: str | None, bases: Bases, options: dict[str, Any], pattern: str | None
) -> None:
    """With a name in place of NAME, the pattern is the folder of that skill."""
    assert locations.pattern(base, bases, **options) == pattern
    if pattern:
        one = locations.of_skill_md(
            base,
            bases,
            skill_id="a",
            file_name="SKILL.md",
            root_folder="/r/a",
            is_package=True,
            name="a",
            **options,
        )
        assert one == pattern.replace("NAME", "a") + "SKILL.md"
