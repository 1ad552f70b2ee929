"""What is found amiss between catalog and packages, and mended."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import SkillWriter
from packages import World, later


@pytest.fixture
def world(tmp_path: Path, skill: SkillWriter) -> Iterator[World]:
    """Return a catalog with two skills, one of them of two versions."""
    made = World(tmp_path)
    skill(made.root / "b", files={"x.txt": "same"})
    skill(made.root / "a", files={"x.txt": "same", "y.txt": "y1"})
    made.scan()
    skill(made.root / "a", files={"x.txt": "same", "y.txt": "y2"})
    made.scan()
    yield made
    made.store.close()


def check(world: World, *, deep: bool = False) -> list[str]:
    """Look at all packages and return the paths of skills to look at again."""
    return [path for again in world.store.check_packages(later(1), deep=deep)
            for _, path in again]


@pytest.mark.parametrize("harm", ["file lost", "file cut", "file added", "link instead",
                                  "directory instead"])
def test_a_damaged_package_is_made_again(world: World, harm: str) -> None:
    """Its list of files and their sizes tell it."""
    package = world.current("a")
    package.chmod(0o755)
    file = package / "x.txt"
    if harm == "file added":
        (package / "more.txt").write_text("more")
    else:
        file.unlink()
    if harm == "file cut":
        file.write_text("sam")
    elif harm == "link instead":
        file.symlink_to("SKILL.md")
    elif harm == "directory instead":
        file.mkdir()
    assert world.differences() != []
    assert check(world) == []
    assert world.differences() == []
    assert world.current("a") == package


def test_a_directory_instead_of_current_gives_way_to_the_link(world: World) -> None:
    """A backup whose links were followed has one."""
    current = world.packages / "a/current"
    package = current.resolve()
    current.unlink()
    shutil.copytree(package, current)
    assert world.differences() != []
    world.restart()
    assert current.is_symlink()
    assert current.resolve() == package
    assert world.differences() == []


def test_bytes_that_were_altered_are_found_by_a_deep_look(world: World) -> None:
    """They are not taken over from the version before, which shares the file."""
    file = world.current("a") / "x.txt"
    file.chmod(0o644)
    file.write_text("SAME")
    file.chmod(0o444)
    assert check(world) == []
    assert world.differences() == ["a/" + file.parent.name + "/x.txt"]
    assert check(world, deep=True) == []
    assert world.differences() == []
    assert (world.current("a") / "x.txt").read_text() == "same"
    assert world.rows("SELECT package_path IS NULL FROM versions WHERE skill_id = 'a'"
                      " ORDER BY id") == [(1,), (0,)]


def test_a_damaged_package_whose_folder_changed_waits(world: World) -> None:
    """What cannot be made again is not given out any more."""
    package = world.current("a")
    package.chmod(0o755)
    (package / "x.txt").unlink()
    (world.root / "a/x.txt").write_text("changed")
    assert check(world) == ["a"]
    assert world.rows("SELECT status, package_path FROM skills WHERE path = 'a'") == [
        ("pending", None)]
    world.scan()
    assert (world.current("a") / "x.txt").read_text() == "changed"
    assert world.differences() == []


def test_packages_are_left_alone_beside_a_new_catalog(world: World) -> None:
    """Agents read on while a lost catalog is made anew; at the next start the old ones go."""
    before = world.current("a")
    world.store.close()
    for name in ("catalog.db", "catalog.db-wal", "catalog.db-shm"):
        (world.folder / name).unlink(missing_ok=True)
    world.store = world.opened()
    assert world.current("a") == before
    assert (before / "SKILL.md").is_file()
    world.scan()
    world.restart()
    assert world.differences() == []


def test_packages_of_a_first_ingest_that_was_killed_are_swept(world: World) -> None:
    """No `current` ever led to them, so nobody reads them, though the catalog is still empty."""
    world.store.close()
    for name in ("catalog.db", "catalog.db-wal", "catalog.db-shm"):
        (world.folder / name).unlink(missing_ok=True)
    (world.packages / "a/current").unlink()
    world.store = world.opened()
    assert not any(path.is_dir() for path in (world.packages / "a").glob("*"))


def test_leftovers_of_every_kind_are_swept(world: World) -> None:
    """Half made packages, links beside `current`, and shelves of nobody."""
    (world.packages / "a/20200101-000000/deep").mkdir(parents=True)
    os.symlink("nowhere", world.packages / "a/.current")
    (world.packages / "nobody").mkdir()
    os.symlink("20200101-000000", world.packages / "nobody/current")
    world.restart()
    assert sorted(path.name for path in (world.packages / "a").iterdir()) == sorted(
        [*(version for version, in world.rows(
            "SELECT version FROM versions WHERE skill_id = 'a'")), "current"])
    assert not (world.packages / "nobody").exists()
