"""A skill whose path leads out of its root now is removed, as a deleted one is."""

from pathlib import Path

import pytest

from catalog.reading.search import word_search
from catalog.reading.skills.versions import history
from tests.support.packages import World, audits, later
from tests.support.skills import write_skill

MARK = "Zanzibarmark"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Return a root with a skill in two published versions, and another skill."""
    world = World(tmp_path)
    write_skill(world.root / "other", description="Stays.")
    for number in (1, 2):
        write(world, number)
        world.scan()
    return world


def write(world: World, number: int) -> None:
    """Write one version of the skill."""
    write_skill(
        world.root / "group/b",
        name="b",
        description=f"{MARK} {number}.",
        files={"notes.md": f"{MARK} in a file.", "scripts/a.py": MARK},
    )


def put_outside(world: World, name: str) -> None:
    """Move a directory of the root out of it, and put a link in its place."""
    (world.root / name).rename(world.folder / "outside")
    (world.root / name).symlink_to(world.folder / "outside")


@pytest.mark.parametrize("name", ["group", "group/b"])
def test_agents_no_longer_get_it(world: World, name: str) -> None:
    """It is neither published nor found; other skills and its history stay."""
    put_outside(world, name)
    (world.folder / "outside").joinpath("added.md").write_text("Never read.")
    world.scan()
    assert world.rows("SELECT name, status FROM skills ORDER BY name") == [
        ("b", "removed"),
        ("other", "active"),
    ]
    assert world.rows("SELECT count(*) FROM skills_fts WHERE skills_fts MATCH 'stays'") == [(1,)]
    assert not word_search.search(world.store.db, MARK).hits
    assert world.rows("SELECT count(*) FROM files WHERE path LIKE '%added.md'") == [(0,)]
    assert world.differences() == []
    world.store.db.execute("INSERT INTO skills_fts (skills_fts) VALUES ('integrity-check')")
    assert len(history(world.store.db, "b")["versions"]) == 2


def test_the_same_content_in_the_root_again_is_the_same_version(world: World) -> None:
    """As if the folder had been away."""
    put_outside(world, "group/b")
    world.scan()
    (world.root / "group/b").unlink()
    (world.folder / "outside").rename(world.root / "group/b")
    world.scan()
    assert world.rows(
        "SELECT s.status, v.skill_md_content LIKE ? FROM skills AS s JOIN version_contents"
        " AS v ON v.id = s.current_version_id WHERE s.path = 'group/b'",
        f"%{MARK} 2%",
    ) == [("active", 1)]
    assert world.differences() == []


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_pinned_skill_stays_pinned(world: World, number: int) -> None:
    """Once its folder is back in the root, it has its version again."""
    pinned = history(world.store.db, "b")["versions"][-1]["version"]
    world.store.pin("b", pinned, later(1))
    put_outside(world, "group/b")
    world.scan()
    (world.root / "group/b").unlink()
    write(world, number)
    world.scan()
    assert history(world.store.db, "b")["pinned_to"] == pinned
    assert world.rows("SELECT name, status, description FROM skills ORDER BY name") == [
        ("b", "active", f"{MARK} 1."),
        ("other", "active", "Stays."),
    ]
    assert audits(world) == []
    assert world.differences() == []


def test_a_skill_behind_a_dangling_link_keeps_its_history(world: World) -> None:
    """So does a deleted one."""
    (world.root / "group/b").rename(world.folder / "moved")
    (world.root / "group/b").symlink_to("nothing")
    world.scan()
    assert world.rows(
        "SELECT count(*) FROM version_contents WHERE skill_md_content LIKE ?", f"%{MARK}%"
    ) == [(2,)]
