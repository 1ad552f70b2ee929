"""References to other skills, as they are read from a folder."""

from typing import Any

import pytest

from catalog.model.skill import SkillReference
from pipeline.validation import skill_references
from tests.support.parsed_skills import BODY_LINE, skill


def targets(*references: SkillReference) -> list[str]:
    """Return the targets of references."""
    return [reference.target for reference in references]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("Read [it](../other/SKILL.md#use).", ["../other/SKILL.md"]),
        ("Read [it](<../other skill/SKILL.md>).", ["../other skill/SKILL.md"]),
        ("Read [it](../../group/other/scripts/x.py).", ["../../group/other/scripts/x.py"]),
        ("Run `../other/scripts/x.py --all`.", ["../other/scripts/x.py"]),
        ("Run `python3 ../other/scripts/x.py`.", ["../other/scripts/x.py"]),
        ("See `../other/SKILL.md`.", ["../other/SKILL.md"]),
        ("Run `cp ../a/SKILL.md ../b/SKILL.md`.", ["../a/SKILL.md", "../b/SKILL.md"]),
        ("It is in ../other/SKILL.md.", []),
        ("Edit `../src/main.ts` of your project.", []),
        ("Write `[it](../other/SKILL.md)` like this.", []),
        ("```\n[it](../other/SKILL.md)\n```", []),
        ("~~~\nSee `../other/SKILL.md`.\n~~~", []),
        ("Read [it](references/a.md) and [that](scripts/../b.md).", []),
        (
            "See [it](in/SKILL.md), [its](in/x.md), [own](on/x.md).",
            ["in/SKILL.md", "in/x.md"],
        ),
        ("Read [it](../{skill}/SKILL.md).", []),
        ("Read [it](/etc/passwd) and [that](~/x.md).", []),
    ],
)
def test_links_out_of_the_folder_are_read(body: str, found: list[str]) -> None:
    """Of links all, of code spans only those to files of skills; no examples."""
    assert targets(*skill_references.of(skill(body))) == found


def test_a_reference_has_its_file_and_line() -> None:
    """Other Markdown files of the skill are read, too, from where they lie."""
    read = skill_references.of(
        skill(
            "# A\n\nSee [it](../b/SKILL.md).",
            texts={
                "references/c.md": "See [own](../d.md)\nand [it](../../b/e.md).",
                "scripts/x.py": "# [it](../../b/e.md)",
            },
        )
    )
    assert read == (
        SkillReference("link", "../b/SKILL.md", "SKILL.md", BODY_LINE + 2),
        SkillReference("link", "../../b/e.md", "references/c.md", 2),
    )


def test_an_own_file_in_a_folder_below_is_no_other_skill() -> None:
    """As in `templates/`, whose SKILL.md files are data."""
    body = "See [it](templates/a/SKILL.md), [lost](notes/SKILL.md) and [own](notes/x.md)."
    files = ("templates/a/SKILL.md", "notes/x.md")
    assert targets(*skill_references.of(skill(body, *files))) == ["notes/SKILL.md"]


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ({"depends_on": ["a", "team:b"]}, ["a", "team:b"]),
        ({"depends_on": "a, b"}, ["a", "b"]),
        ({"depends-on": ["a@1.0", "b >= 2"]}, ["a", "b"]),
        ({"dependsOn": [{"skill": "a", "version": "1"}, {"name": "b"}]}, ["a", "b"]),
        ({"metadata": {"depends_on": "a b"}}, ["a", "b"]),
        ({"dependencies": ["a", "python>=3.8"]}, ["a"]),
        ({"dependencies": "python>=3.8, pandas"}, []),
        ({"dependencies": {"skills": ["a"], "python": ["pandas"]}}, ["a"]),
        ({"requires": {"bins": ["gws"]}}, []),
        ({"requires": "GPU node for benchmarks"}, []),
        ({"depends_on": ["a", "a", "", "no name!"]}, ["a"]),
        ({"depends_on": 7}, []),
        ({"depends_on": None}, []),
    ],
)
def test_declared_skills_are_read(fields: dict[str, Any], found: list[str]) -> None:
    """In a list, a text or a map, at the top level or in metadata; no other software."""
    assert targets(*skill_references.of(skill(**fields))) == found
