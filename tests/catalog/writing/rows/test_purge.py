"""Deletion of a skill's content when its folder is found to be outside the root."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.model import finding
from catalog.model.errors import NotInCatalog
from catalog.prompt_index.formats.registry import FORMATS
from catalog.prompt_index.spec import IndexSpec
from catalog.reading import search
from catalog.reading.versions import history
from catalog.writing.rows import purge
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


def cells(world: World) -> Iterator[str]:
    """Yield each row of each table that contains the mark."""
    for (table,) in world.rows("SELECT name FROM sqlite_master WHERE type = 'table'"):
        for row in world.rows(f'SELECT * FROM "{table}"'):
            if any(MARK.lower().encode() in bytes(repr(value), "utf-8").lower() for value in row):
                yield f"{table}: {row}"


@pytest.mark.parametrize("name", ["group", "group/b"])
def test_no_table_and_no_package_contains_it(world: World, name: str) -> None:
    """Neither earlier versions nor the full-text index do; other skills stay."""
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


def publish(world: World, spec: IndexSpec, minutes: int) -> None:
    """Publish an index, some minutes after noon."""
    world.store.publish_indexes([spec], world.folder / "index", later(minutes))


def published_texts(world: World) -> list[tuple[object, ...]]:
    """Return the texts of all publications, oldest first."""
    return world.rows("SELECT text FROM index_builds NATURAL JOIN index_texts ORDER BY id")


def publish_before_during_and_after(world: World, spec: IndexSpec) -> None:
    """Publish an index without the skill, one with it, and one with a third skill."""
    world.store.indexes.configure([spec])
    (world.root / "group").rename(world.folder / "away")
    world.scan()
    publish(world, spec, 0)
    (world.folder / "away").rename(world.root / "group")
    world.store.db.execute(
        "UPDATE skills SET first_seen = ? WHERE path = 'group/b'",
        [later(1).isoformat(timespec="milliseconds")],
    )
    world.scan()
    publish(world, spec, 2)
    write_skill(world.root / "third", description="Came later.")
    world.scan()
    publish(world, spec, 3)


@pytest.mark.parametrize("form", FORMATS)
def test_index_texts_that_name_it_are_deleted(world: World, form: str) -> None:
    """The times of publication stay, and so do texts from before it existed."""
    spec = IndexSpec(format=form)
    publish_before_during_and_after(world, spec)
    before, during, _ = published_texts(world)
    assert len(list(cells(world))) > 3

    put_outside(world, "group/b")
    world.scan()
    publish(world, spec, 4)

    assert list(cells(world)) == []
    assert published_texts(world)[:3] == [before, (purge.DELETED_TEXT,), (purge.DELETED_TEXT,)]
    (world.root / "group/b").unlink()
    (world.folder / "outside").rename(world.root / "group/b")
    shutil.rmtree(world.root / "third")
    world.scan()
    publish(world, spec, 5)
    assert published_texts(world)[-1] == during


def test_the_history_records_the_deletion(world: World) -> None:
    """With its reason and the former versions."""
    put_outside(world, "group/b")
    world.scan()
    assert world.rows(
        "SELECT outcome, detail FROM ingestions WHERE path = 'group/b' ORDER BY id DESC LIMIT 1"
    ) == [("removed", "its path now leads out of the root; its stored content was deleted")]
    assert world.rows(
        "SELECT count(*) FROM versions WHERE skill = (SELECT id FROM skills WHERE path = 'group/b')"
    ) == [(2,)]


def test_the_same_content_in_the_root_again_is_a_new_version(world: World) -> None:
    """No deleted version counts as equal."""
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
def test_a_pinned_skill_is_unpinned(world: World, number: int) -> None:
    """The history records that; once back in the root, the skill follows its folder."""
    pinned = history(world.store.db, "b")["versions"][-1]["version"]
    world.store.pin("b", pinned, later(1))
    put_outside(world, "group/b")
    world.scan()
    assert history(world.store.db, "b")["held_at"] is None
    with pytest.raises(NotInCatalog, match="not pinned"):
        world.store.unpin("b", later(2))
    ((detail,),) = world.rows("SELECT detail FROM ingestions WHERE outcome = 'removed'")
    assert str(detail).endswith(f" was deleted, so it is no longer pinned to version {pinned}")
    (world.root / "group/b").unlink()
    write(world, number)
    write_skill(world.root / "other", description="Changes.")
    assert world.scan().outcomes == {"added": 1, "updated": 1}
    assert world.rows("SELECT name, status, description FROM skills ORDER BY name") == [
        ("b", "active", f"{MARK} {number}."),
        ("other", "active", "Changes."),
    ]
    assert [hit.name for hit in search.search(world.store.db, MARK).hits] == ["b"]
    assert world.rows("SELECT * FROM findings WHERE code = ?", finding.VERSION_HELD.code) == []
    assert audits(world) == []
    assert world.differences() == []
    assert world.scan().outcomes == {"unchanged": 2}


def test_a_skill_that_is_deleted_keeps_its_history(world: World) -> None:
    """So does a skill replaced by a dangling link inside the root."""
    (world.root / "group/b").rename(world.folder / "moved")
    (world.root / "group/b").symlink_to("nothing")
    world.scan()
    assert world.rows(
        "SELECT count(*) FROM version_contents WHERE skill_md_content LIKE ?", f"%{MARK}%"
    ) == [(2,)]
