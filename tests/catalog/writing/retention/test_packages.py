"""Which packages go, and which never do."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.prompt_index.builder import IndexSpec
from catalog.reading.versions import history
from catalog.writing.index_publisher import publish_indexes
from catalog.writing.retention.packages import Retention
from tests.support.packages import World, later
from tests.support.skills import SkillWriter
from tests.support.without_rights import bound_by_permissions

NOTHING_KEPT = Retention(versions=1, days=0, grace=0)


@pytest.fixture
def world(tmp_path: Path, skill: SkillWriter) -> Iterator[World]:
    """Return a catalog with a skill `a` of five versions."""
    made = World(tmp_path)
    for number in range(5):
        skill(made.root / "a", description=f"Version {number}.", files={"x.txt": str(number)})
        made.scan()
    yield made
    made.store.close()


def lying(world: World, skill_id: str = "a") -> list[str]:
    """Return the versions of a skill whose packages there are, oldest first."""
    return (
        sorted(
            path.name for path in (world.packages / skill_id).iterdir() if path.name != "current"
        )
        if (world.packages / skill_id).exists()
        else []
    )


def collect(world: World, retention: Retention) -> int:
    """Collect at a moment long after everything that tests do, which is today."""
    return world.store.collect(retention, later(60 * 24 * 365))


def test_the_newest_versions_are_kept_by_count(world: World) -> None:
    """The rows of the others stay with their text, and say that the files are gone."""
    assert len(lying(world)) == 5
    assert collect(world, Retention(versions=2, days=100_000, grace=0)) == 3
    kept = [each.version for each in history(world.store.db, "a").versions if each.has_files]
    assert lying(world) == sorted(kept)
    assert [each.has_files for each in history(world.store.db, "a").versions] == [
        True,
        True,
        False,
        False,
        False,
    ]
    assert world.rows("SELECT count(*) FROM versions WHERE skill_md_content = ''") == [(0,)]
    assert world.differences() == []


def test_versions_are_kept_by_age(world: World) -> None:
    """Only what was superseded long enough ago goes."""
    assert collect(world, Retention(versions=100, days=100_000, grace=0)) == 0
    assert collect(world, Retention(versions=100, days=1, grace=0)) == 4
    assert world.differences() == []


def test_nothing_goes_in_the_grace_period(world: World) -> None:
    """Somebody may still be reading what was superseded a moment ago."""
    assert collect(world, Retention(versions=1, days=0, grace=60 * 60 * 24 * 3650)) == 0
    shutil.rmtree(world.root / "a")
    world.scan()
    assert collect(world, Retention(versions=1, days=0, grace=60 * 60 * 24 * 3650)) == 0
    assert (world.packages / "a/current/SKILL.md").is_file()


def test_current_and_pin_always_stay(world: World) -> None:
    """What agents are given never goes, and neither does what `unpin` goes to."""
    oldest = history(world.store.db, "a").versions[-1].version
    world.store.pin("a", oldest, later(1))
    assert collect(world, NOTHING_KEPT) == 3
    assert (world.current("a") / "x.txt").read_text() == "0"
    world.store.unpin("a", later(2))
    assert (world.current("a") / "x.txt").read_text() == "4"
    assert world.differences() == []


def test_a_held_version_stays_while_its_folder_is_gone(world: World) -> None:
    """It will be wanted when the folder comes back."""
    oldest = history(world.store.db, "a").versions[-1].version
    world.store.pin("a", oldest, later(1))
    (world.root / "a").rename(world.folder / "away")
    world.scan()
    collect(world, NOTHING_KEPT)
    assert lying(world) == [oldest]
    (world.folder / "away").rename(world.root / "a")
    world.scan()
    assert (world.current("a") / "x.txt").read_text() == "0"
    assert world.differences() == []


def test_what_an_index_still_names_stays(world: World) -> None:
    """A removed skill goes with all it had once no published index leads there."""
    specs = [IndexSpec()]
    world.store.indexes.configure(specs)
    publish_indexes(world.store, specs, world.folder / "index", later(0))
    shutil.rmtree(world.root / "a")
    world.scan()
    collect(world, NOTHING_KEPT)
    assert (world.packages / "a/current/SKILL.md").is_file()
    publish_indexes(world.store, specs, world.folder / "index", later(1))
    assert collect(world, NOTHING_KEPT) == 1
    assert world.lying() == []


def test_what_was_collected_is_published_again_when_it_returns(
    world: World, skill: SkillWriter
) -> None:
    """The same content is the same version, with a package of its own again."""
    (world.root / "a").rename(world.folder / "away")
    world.scan()
    assert collect(world, NOTHING_KEPT) == 5
    (world.folder / "away").rename(world.root / "a")
    world.scan()
    assert (world.current("a") / "x.txt").read_text() == "4"
    assert len(history(world.store.db, "a").versions) == 5
    assert world.differences() == []


def test_files_shared_with_a_collected_version_stay(world: World) -> None:
    """A hard link is one name of several."""
    collect(world, NOTHING_KEPT)
    assert lying(world) == [world.current("a").name]
    assert world.differences() == []


def test_a_file_in_the_place_of_packages_stops_no_collection(world: World) -> None:
    """What is to go from there is gone."""
    shelf = world.packages / "a"
    shelf.rename(world.packages.with_name("away"))
    shelf.write_text("not a directory")
    assert collect(world, NOTHING_KEPT) == 4
    assert shelf.read_text() == "not a directory"


def test_what_cannot_be_removed_is_tried_again_and_keeps_nothing_else(
    world: World, skill: SkillWriter
) -> None:
    """A folder that may not be written now may be later, without a start in between."""
    for text in ("One.", "Two."):
        skill(world.root / "b", description=text)
        world.scan()
    shelf = world.packages / "a"
    shelf.chmod(0o555)
    for _ in range(2):
        with bound_by_permissions(), pytest.raises(PermissionError, match=str(shelf)):
            collect(world, NOTHING_KEPT)
        assert (len(lying(world, "a")), len(lying(world, "b"))) == (5, 1)
    shelf.chmod(0o755)
    assert collect(world, NOTHING_KEPT) == 4
    assert world.differences() == []


def test_what_could_not_be_removed_stays_once_it_is_published_again(world: World) -> None:
    """The content came back meanwhile, and its version was made anew in the same place."""
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
