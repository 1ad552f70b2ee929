"""Searchable text, in the table and in the index over it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.writing.rows.derived import body_of
from catalog.writing.store import Store
from tests.support.packages import World
from tests.support.records import NOON, judged, rooted
from tests.support.skills import SkillWriter

BODIES = ["", "One line.", "# Têtes\n\n报告\n\nEnd.", "A\0B", "x" * 5000]
"""Some have characters of several bytes, or the byte that ends a text for SQLite."""


@pytest.fixture
def world(tmp_path: Path, skill: SkillWriter) -> World:
    """Return three stored skills."""
    made = World(tmp_path)
    for name in ("one", "two", "three"):
        skill(made.root / name, description=f"Does {name} 报告.", body="# Words\n\nFirst words.\n")
    made.scan()
    return made


def check(store: Store) -> None:
    """Make SQLite compare the indexes with the table word by word; it raises on a difference."""
    for table in ("skills_fts", "skill_text_fts"):
        store.db.execute(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")


def edit(world: World, skill: SkillWriter) -> None:
    """Change the searchable text."""
    skill(world.root / "one", description="Does another.", body="# Other\n\nSecond text.\n")
    world.scan()


def remove(world: World, skill: SkillWriter) -> None:
    """Remove a skill, and restore it."""
    aside = world.root.parent / "aside"
    (world.root / "two").rename(aside)
    world.scan()
    check(world.store)
    aside.rename(world.root / "two")
    world.scan()


def roll_back(world: World, skill: SkillWriter) -> None:
    """Pin a version, and unpin it."""
    version = world.rows("SELECT version FROM versions WHERE skill_id = 'one'")[0][0]
    edit(world, skill)
    world.store.pin("one", version, NOON)
    check(world.store)
    world.store.unpin("one", NOON)


@pytest.mark.parametrize("happens", [edit, remove, roll_back])
def test_the_index_matches_the_table(
    world: World, skill: SkillWriter, happens: Callable[[World, SkillWriter], None]
) -> None:
    """After any change of a skill."""
    happens(world, skill)
    check(world.store)
    assert world.rows("SELECT count(*) FROM skill_text") == [(3,)]
    world.store.close()


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("body", BODIES)
def test_the_position_of_a_body_is_exact(tmp_path: Path, body: str, line_end: str) -> None:
    """For any characters and line ends."""
    skill_md = f"---\nname: á\n---\n\n{body}\n\n".replace("\n", line_end)
    assert body_of(skill_md, len(body)).text == body
    store = rooted(Store.open(tmp_path / "catalog.db"))
    store.apply(
        [judged("a", skill_md_content=skill_md, body_chars=len(body))], trigger="command", at=NOON
    )
    assert store.db.execute("SELECT body FROM searched_texts").fetchall() == [(body,)]
    check(store)
    store.close()


def test_a_batch_adds_one_part_to_each_index() -> None:
    """Searches look into each part, and SQLite joins them later at a cost."""
    store = rooted(Store.in_memory())
    batch = [judged(f"skill-{number}") for number in range(100)]
    store.apply(batch, trigger="command", at=NOON)
    for table in ("skills_fts", "skill_text_fts"):
        parts = store.db.execute(f"SELECT count(DISTINCT segid) FROM {table}_idx").fetchone()
        assert parts == (1,)
        assert store.db.execute(f"SELECT count(*) FROM {table}_docsize").fetchone() == (100,)
    check(store)
    store.close()
