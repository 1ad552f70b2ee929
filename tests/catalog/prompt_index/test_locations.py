"""Locations of the files of a skill for agents."""

import pytest

from catalog.prompt_index import locations


@pytest.mark.parametrize(
    ("base", "is_package", "location"),
    [
        (None, False, "/root/My Skill/SKILL.md"),
        ("/srv/packages", True, "/srv/packages/my-技能/current/SKILL.md"),
        ("/srv/packages/", True, "/srv/packages/my-技能/current/SKILL.md"),
        ("/srv/packages", False, "/root/My Skill/SKILL.md"),
        ("https://h:1/skills", True, "https://h:1/skills/my-%E6%8A%80%E8%83%BD/files/SKILL.md"),
        ("http://h/skills/", False, "http://h/skills/my-%E6%8A%80%E8%83%BD/files/SKILL.md"),
    ],
)
def test_a_location_is_below_its_base(base: str | None, is_package: bool, location: str) -> None:
    """The packages folder, a URL of the site, or the root for a skill without a package."""
    assert (
        locations.of_skill_md(
            base,
            skill_id="my-技能",
            file_name="SKILL.md",
            folder="/root/My Skill",
            is_package=is_package,
        )
        == location
    )


@pytest.mark.parametrize(
    ("base", "pattern"),
    [
        (None, None),
        ("/p/", "/p/NAME/current/"),
        ("http://h/skills", "http://h/skills/NAME/files/"),
    ],
)
def test_one_pattern_locates_all_skills(base: str | None, pattern: str | None) -> None:
    """With a name in place of NAME, the pattern is the folder of that skill."""
    assert locations.pattern(base) == pattern
    if base and pattern:
        one = locations.of_skill_md(
            base, skill_id="a", file_name="SKILL.md", folder="/r/a", is_package=True
        )
        assert one == pattern.replace("NAME", "a") + "SKILL.md"
