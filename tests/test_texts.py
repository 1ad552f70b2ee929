"""What is searched, in the table and in the index over it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SkillWriter
from packages import World
from records import NOON


@pytest.fixture
def world(tmp_path: Path, skill: SkillWriter) -> World:
    """Return three skills that were taken in."""
    made = World(tmp_path)
    for name in ("one", "two", "three"):
        skill(made.root / name, description=f"Does {name} 报告.", body="# Words\n\nFirst words.\n")
    made.scan()
    return made


def check(world: World) -> None:
    """Let SQLite compare the index with the table word by word, which raises where they differ."""
    world.rows("INSERT INTO skills_fts (skills_fts, rank) VALUES ('integrity-check', 1)")


def edit(world: World, skill: SkillWriter) -> None:
    """Change what is found by."""
    skill(world.root / "one", description="Does another.", body="# Other\n\nSecond text.\n")
    world.scan()


def remove(world: World, skill: SkillWriter) -> None:
    """Take a skill away, and bring it back."""
    aside = world.root.parent / "aside"
    (world.root / "two").rename(aside)
    world.scan()
    check(world)
    aside.rename(world.root / "two")
    world.scan()


def roll_back(world: World, skill: SkillWriter) -> None:
    """Return to a version, and let it go."""
    version = world.rows("SELECT version FROM versions WHERE skill_id = 'one'")[0][0]
    edit(world, skill)
    world.store.hold("one", version, NOON)
    check(world)
    world.store.release("one", NOON)


@pytest.mark.parametrize("happens", [edit, remove, roll_back])
def test_the_index_says_what_the_table_says(
    world: World, skill: SkillWriter, happens: Callable[[World, SkillWriter], None]
) -> None:
    """Whatever becomes of a skill."""
    happens(world, skill)
    check(world)
    assert world.rows("SELECT count(*) FROM skill_text") == [(3,)]
    world.store.close()
