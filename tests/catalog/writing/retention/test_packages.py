"""Retention of packages."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.model.setting import Retention
from catalog.prompt_index.spec import IndexSpec
from catalog.reading.skills.versions import history
from tests.support.packages import World, later
from tests.support.skills import SkillWriter
from tests.support.without_rights import bound_by_permissions

NOTHING_KEPT = Retention(versions=1, version_days=0, grace=0)


@pytest.fixture
def world(tmp_path: Path, skill: SkillWriter) -> Iterator[World]:
    """Return a catalog with a skill `a` of five versions."""
    made = World(tmp_path)
    for number in range(5):
        skill(made.root / "a", description=f"Version {number}.", files={"x.txt": str(number)})
        made.scan()
    yield made
    made.store.close()


def existing(world: World, skill_id: str = "a") -> list[str]:
    """Return the versions of a skill that have packages, oldest first."""
    return (
        sorted(
            path.name for path in (world.packages / skill_id).iterdir() if path.name != "current"
        )
        if (world.packages / skill_id).exists()
        else []
    )


def collect(world: World, retention: Retention) -> int:
    """Collect at a time long after all tests."""
    return world.store.collect(retention, later(60 * 24 * 365))


@pytest.mark.requirement("prd/no-versions")
def test_the_newest_versions_are_kept_by_count(world: World) -> None:
    """The rows of the others stay with their text, but without files."""
    assert len(existing(world)) == 5
    assert collect(world, Retention(versions=2, version_days=100_000, grace=0)) == 3
    kept = [row["version"] for row in history(world.store.db, "a")["versions"] if row["has_files"]]
    assert existing(world) == sorted(kept)
    assert [row["has_files"] for row in history(world.store.db, "a")["versions"]] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert world.rows("SELECT count(*) FROM version_contents WHERE skill_md_content = ''") == [(0,)]
    assert world.differences() == []


def test_versions_are_kept_by_age(world: World) -> None:
    """Only versions superseded long enough ago are removed."""
    assert collect(world, Retention(versions=100, version_days=100_000, grace=0)) == 0
    assert collect(world, Retention(versions=100, version_days=1, grace=0)) == 4
    assert world.differences() == []


def test_nothing_is_removed_in_the_grace_period(world: World) -> None:
    """An agent may still be reading a version that was just superseded."""
    assert collect(world, Retention(versions=1, version_days=0, grace=60 * 60 * 24 * 3650)) == 0
    shutil.rmtree(world.root / "a")
    world.scan()
    assert collect(world, Retention(versions=1, version_days=0, grace=60 * 60 * 24 * 3650)) == 0
    assert (world.packages / "a/current/SKILL.md").is_file()


def test_current_and_pin_always_stay(world: World) -> None:
    """The published version is never removed, nor the one that `unpin` publishes."""
    oldest = history(world.store.db, "a")["versions"][-1]["version"]
    world.store.pin("a", oldest, later(1))
    assert collect(world, NOTHING_KEPT) == 3
    assert (world.current("a") / "x.txt").read_text() == "0"
    world.store.unpin("a", later(2))
    assert (world.current("a") / "x.txt").read_text() == "4"
    assert world.differences() == []


def test_a_pinned_version_stays_while_its_folder_is_missing(world: World) -> None:
    """It is needed when the folder returns."""
    oldest = history(world.store.db, "a")["versions"][-1]["version"]
    world.store.pin("a", oldest, later(1))
    (world.root / "a").rename(world.folder / "away")
    world.scan()
    collect(world, NOTHING_KEPT)
    assert existing(world) == [oldest]
    (world.folder / "away").rename(world.root / "a")
    world.scan()
    assert (world.current("a") / "x.txt").read_text() == "0"
    assert world.differences() == []


def test_packages_named_by_an_index_stay(world: World) -> None:
    """All packages of a removed skill are removed once no published index names it."""
    specs = [IndexSpec()]
    world.store.indexes.configure(specs)
    world.store.publish_indexes(specs, world.folder / "index", later(0))
    shutil.rmtree(world.root / "a")
    world.scan()
    collect(world, NOTHING_KEPT)
    assert (world.packages / "a/current/SKILL.md").is_file()
    world.store.publish_indexes(specs, world.folder / "index", later(1))
    assert collect(world, NOTHING_KEPT) == 1
    assert world.lying() == []


def test_versions_of_a_removed_skill_are_kept_like_superseded_ones(world: World) -> None:
    """So it can be restored; after that, no file of it stays."""
    shutil.rmtree(world.root / "a")
    world.scan()
    assert collect(world, Retention(versions=2, version_days=100_000, grace=0)) == 3
    assert collect(world, Retention(versions=2, version_days=1, grace=0)) == 2
    assert existing(world) == []


def test_collected_content_is_published_again_when_it_returns(
    world: World, skill: SkillWriter
) -> None:
    """The same content is the same version, with a new package."""
    (world.root / "a").rename(world.folder / "away")
    world.scan()
    assert collect(world, NOTHING_KEPT) == 5
    (world.folder / "away").rename(world.root / "a")
    world.scan()
    assert (world.current("a") / "x.txt").read_text() == "4"
    assert len(history(world.store.db, "a")["versions"]) == 5
    assert world.differences() == []


def test_files_shared_with_a_collected_version_stay(world: World) -> None:
    """Removing one hard link keeps the others."""
    collect(world, NOTHING_KEPT)
    assert existing(world) == [world.current("a").name]
    assert world.differences() == []


def test_a_file_in_place_of_packages_does_not_stop_the_collection(world: World) -> None:
    """The packages to remove no longer exist."""
    directory = world.packages / "a"
    directory.rename(world.packages.with_name("away"))
    directory.write_text("not a directory")
    assert collect(world, NOTHING_KEPT) == 4
    assert directory.read_text() == "not a directory"


def test_failed_removals_are_retried_and_do_not_stop_others(
    world: World, skill: SkillWriter
) -> None:
    """A folder may become writable without a restart."""
    for text in ("One.", "Two."):
        skill(world.root / "b", description=text)
        world.scan()
    directory = world.packages / "a"
    directory.chmod(0o555)
    for _ in range(2):
        with bound_by_permissions(), pytest.raises(PermissionError, match=str(directory)):
            collect(world, NOTHING_KEPT)
        assert (len(existing(world, "a")), len(existing(world, "b"))) == (5, 1)
    directory.chmod(0o755)
    assert collect(world, NOTHING_KEPT) == 4
    assert world.differences() == []


def test_a_failed_removal_is_not_retried_after_republication(world: World) -> None:
    """The content returned, and its version was rebuilt in the same place."""
    (world.root / "a").rename(world.folder / "away")
    world.scan()
    (world.packages / "a").chmod(0o555)
    with bound_by_permissions(), pytest.raises(PermissionError):
        collect(world, NOTHING_KEPT)
    (world.folder / "away").rename(world.root / "a")
    world.scan()
    assert collect(world, NOTHING_KEPT) == 4
    assert (world.current("a") / "x.txt").read_text() == "4"
    assert world.differences() == []
