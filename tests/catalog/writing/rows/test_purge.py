"""The content of a skill goes from the tables when its folder turns out to lie outside the root."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.model import publication_findings
from catalog.model.errors import NotInCatalog
from catalog.prompt_index.builder import IndexSpec
from catalog.prompt_index.formats import FORMATS
from catalog.reading import search
from catalog.reading.versions import history
from catalog.writing.index_publisher import publish_indexes
from catalog.writing.rows import purge
from tests.support.packages import World, audits, later
from tests.support.skills import write_skill

MARK = "Zanzibarmark"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Return a root with a skill, published in two versions, beside another that stays."""
    world = World(tmp_path)
    write_skill(world.root / "other", description="Stays.")
    for number in (1, 2):
        write(world, number)
        world.scan()
    return world


def write(world: World, number: int) -> None:
    """Write the skill as it is in a version."""
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


def cells(world: World) -> Iterator[str]:
    """Yield each value of each table that holds the mark."""
    for (table,) in world.rows("SELECT name FROM sqlite_master WHERE type = 'table'"):
        for row in world.rows(f'SELECT * FROM "{table}"'):
            if any(MARK.lower().encode() in bytes(repr(value), "utf-8").lower() for value in row):
                yield f"{table}: {row}"


@pytest.mark.parametrize("name", ["group", "group/b"])
def test_no_table_and_no_package_holds_it_any_more(world: World, name: str) -> None:
    """Neither in an earlier version nor as a word of the full-text index; others stay."""
    assert len(list(cells(world))) > 3
    put_outside(world, name)
    world.scan()
    assert list(cells(world)) == []
    assert [
        path for path in world.packages.rglob("*") if path.is_file() and MARK in path.read_text()
    ] == []
    assert world.rows("SELECT name, status FROM skills ORDER BY name") == [
        ("b", "removed"),
        ("other", "active"),
    ]
    assert world.rows("SELECT count(*) FROM skills_fts WHERE skills_fts MATCH 'stays'") == [(1,)]
    assert world.differences() == []
    world.store.db.execute("INSERT INTO skills_fts (skills_fts) VALUES ('integrity-check')")


@pytest.mark.parametrize("form", FORMATS)
def test_what_indexes_said_of_it_goes_with_it(world: World, form: str) -> None:
    """When they were published stays, and so does what they said before it was there."""
    specs = [IndexSpec(format=form)]
    world.store.indexes.configure(specs)

    def publish(minutes: int) -> None:
        publish_indexes(world.store, specs, world.folder / "index", later(minutes))

    (world.root / "group").rename(world.folder / "away")
    world.scan()
    publish(0)
    before = world.rows("SELECT text FROM index_texts")
    (world.folder / "away").rename(world.root / "group")
    world.store.db.execute(
        "UPDATE skills SET first_seen = ? WHERE path = 'group/b'",
        [later(1).isoformat(timespec="milliseconds")],
    )
    world.scan()
    publish(2)
    said = world.rows("SELECT text FROM index_builds NATURAL JOIN index_texts ORDER BY id")
    write_skill(world.root / "third", description="Came later.")
    world.scan()
    publish(3)
    assert len(list(cells(world))) > 3
    put_outside(world, "group/b")
    world.scan()
    publish(4)
    assert list(cells(world)) == []
    texts = world.rows("SELECT text FROM index_builds NATURAL JOIN index_texts ORDER BY id")
    assert texts[:3] == [*before, (purge.DELETED_TEXT,), (purge.DELETED_TEXT,)]
    (world.root / "group/b").unlink()
    (world.folder / "outside").rename(world.root / "group/b")
    shutil.rmtree(world.root / "third")
    world.scan()
    publish(5)
    assert (
        world.rows(
            "SELECT text FROM index_builds NATURAL JOIN index_texts ORDER BY id DESC LIMIT 1"
        )
        == said[1:]
    )


def test_the_history_says_so(world: World) -> None:
    """With the reason, and with the versions that there were."""
    put_outside(world, "group/b")
    world.scan()
    assert world.rows(
        "SELECT outcome, detail FROM ingestions WHERE path = 'group/b' ORDER BY id DESC LIMIT 1"
    ) == [("removed", "its path now leads out of the root; its stored content was deleted")]
    assert world.rows(
        "SELECT count(*) FROM versions WHERE skill = (SELECT id FROM skills WHERE path = 'group/b')"
    ) == [(2,)]


def test_the_same_content_in_the_root_again_is_a_new_version(world: World) -> None:
    """Nothing that was deleted is taken for it."""
    put_outside(world, "group/b")
    world.scan()
    (world.root / "group/b").unlink()
    (world.folder / "outside").rename(world.root / "group/b")
    world.scan()
    assert world.rows(
        "SELECT s.status, v.skill_md_content LIKE ? FROM skills AS s JOIN versions"
        " AS v ON v.id = s.current_version_id WHERE s.path = 'group/b'",
        f"%{MARK} 2%",
    ) == [("active", 1)]
    assert world.differences() == []


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_held_skill_is_held_no_longer(world: World, number: int) -> None:
    """The history says so, and back in the root it follows its folder, whatever that holds."""
    held = history(world.store.db, "b").versions[-1].version
    world.store.pin("b", held, later(1))
    put_outside(world, "group/b")
    world.scan()
    assert history(world.store.db, "b").held_at is None
    with pytest.raises(NotInCatalog, match="not pinned"):
        world.store.unpin("b", later(2))
    ((said,),) = world.rows("SELECT detail FROM ingestions WHERE outcome = 'removed'")
    assert str(said).endswith(f" was deleted, so it is no longer pinned to version {held}")
    (world.root / "group/b").unlink()
    write(world, number)
    write_skill(world.root / "other", description="Changes.")
    assert world.scan().outcomes == {"added": 1, "updated": 1}
    assert world.rows("SELECT name, status, description FROM skills ORDER BY name") == [
        ("b", "active", f"{MARK} {number}."),
        ("other", "active", "Changes."),
    ]
    assert [hit.name for hit in search.find(world.store.db, MARK)] == ["b"]
    assert (
        world.rows("SELECT * FROM findings WHERE code = ?", publication_findings.VERSION_HELD.code)
        == []
    )
    assert audits(world) == []
    assert world.differences() == []
    assert world.scan().outcomes == {"unchanged": 2}


def test_a_skill_that_is_deleted_keeps_its_history(world: World) -> None:
    """So does one in whose place a link to nothing inside the root is put."""
    (world.root / "group/b").rename(world.folder / "moved")
    (world.root / "group/b").symlink_to("nothing")
    world.scan()
    assert world.rows(
        "SELECT count(*) FROM versions WHERE skill_md_content LIKE ?", f"%{MARK}%"
    ) == [(2,)]
