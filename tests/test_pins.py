"""Holding a skill at a version, and letting it go."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import SkillWriter
from packages import World, later

from catalog import search, standing
from catalog.errors import NotInCatalog
from catalog.history import history


@pytest.fixture
def world(tmp_path: Path, skill: SkillWriter) -> Iterator[World]:
    """Return a catalog with a skill `a` of two versions, the first about words."""
    made = World(tmp_path)
    skill(made.root / "a", description="Counts words.", more="license: One",
          body="# Sheep\n\nWool.\n", files={"x.txt": "one", "old.txt": "o"})
    made.scan()
    skill(made.root / "a", description="Counts lines.", body="# Goats\n\nHorn.\n",
          files={"x.txt": "two"})
    (made.root / "a/old.txt").unlink()
    made.scan()
    yield made
    made.store.close()


def versions(world: World) -> list[str]:
    """Return the names of all versions, oldest first."""
    return [each.version for each in history(world.store.db, "a").versions][::-1]


def text(world: World) -> str:
    """Return what an agent reads as x.txt."""
    return (world.current("a") / "x.txt").read_text()


def test_a_rollback_gives_agents_the_earlier_version_and_all_it_said(world: World) -> None:
    """Files, description, search and everything else are that version's, and it says so."""
    before = world.rows("SELECT * FROM skills")
    text_before = world.rows("SELECT * FROM skill_text")
    first, second = versions(world)
    world.store.hold("a", first, later(1))
    assert text(world) == "one"
    assert world.rows("SELECT description, license FROM skills") == [("Counts words.", "One")]
    assert [hit.name for hit in search.find(world.store.db, "sheep wool")] == ["a"]
    assert world.rows("SELECT body FROM searched_texts") == [("# Sheep\n\nWool.",)]
    assert search.find(world.store.db, "goats") == []
    assert [hit.name for hit in search.find(world.store.db, "old.txt")] == ["a"]
    assert world.rows("SELECT code FROM findings") == [(standing.HELD.code,)]
    (held,) = search.status(world.store.db)["version_held"]
    assert (held["path"], held["why"]) == ("a", first)
    assert history(world.store.db, "a").held_at == first
    assert world.differences() == []
    world.store.release("a", later(2))
    assert text(world) == "two"
    assert world.rows("SELECT * FROM skills") == before
    assert world.rows("SELECT * FROM skill_text") == text_before
    assert world.rows("SELECT code FROM findings") == []
    assert [hit.name for hit in search.find(world.store.db, "goats")] == ["a"]
    assert world.differences() == []
    assert world.scan().outcomes == {"unchanged": 1}
    assert [each.version for each in history(world.store.db, "a").versions] == [second, first]


def test_a_body_comes_back_whole_whatever_ends_its_lines(
    world: World, skill: SkillWriter
) -> None:
    """It is cut out of the version's SKILL.md, whose line ends it does not share."""
    file = world.root / "a/SKILL.md"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n") + b" \r\n\r\n")
    world.scan()
    windows = versions(world)[-1]
    skill(world.root / "a", body="Other.")
    world.scan()
    world.store.hold("a", windows, later(1))
    assert world.rows("SELECT body FROM searched_texts") == [("# Goats\n\nHorn.",)]


def test_a_held_skill_stays_whatever_its_folder_does(
    world: World, skill: SkillWriter
) -> None:
    """Edits are versions that wait, rejections are findings, and `unpin` gives the newest good."""
    first, _ = versions(world)
    world.store.hold("a", first, later(1))
    skill(world.root / "a", description="Third.", files={"x.txt": "three"})
    assert world.scan().outcomes == {"updated": 1}
    assert world.scan().outcomes == {"unchanged": 1}
    (world.root / "a/SKILL.md").write_text("---\nname: a\n---\n")
    assert world.scan(deep=True).outcomes == {"rejected": 1}
    assert text(world) == "one"
    assert world.rows("SELECT description, status FROM skills") == [("Counts words.", "active")]
    codes = {code for code, in world.rows("SELECT code FROM findings")}
    assert {standing.HELD.code, standing.LAST_GOOD.code} < codes
    assert len(versions(world)) == 3
    world.restart()
    assert text(world) == "one"
    assert world.differences() == []
    shutil.rmtree(world.root / "a/x.txt", ignore_errors=True)
    world.store.release("a", later(2))
    assert text(world) == "three"
    assert world.rows("SELECT description FROM skills") == [("Third.",)]
    assert world.differences() == []


def test_a_pin_outlasts_removal_and_return(world: World, skill: SkillWriter) -> None:
    """Replacing a folder by deleting and copying is an edit like any other."""
    first, _ = versions(world)
    world.store.hold("a", first, later(1))
    (world.root / "a").rename(world.folder / "away")
    world.scan()
    assert search.find(world.store.db, "sheep") == []
    skill(world.folder / "away", name="a", description="Fourth.", files={"x.txt": "four"})
    (world.folder / "away").rename(world.root / "a")
    world.scan()
    assert text(world) == "one"
    assert [hit.name for hit in search.find(world.store.db, "sheep")] == ["a"]
    world.store.release("a", later(2))
    assert text(world) == "four"
    assert world.differences() == []


def test_a_held_skill_whose_package_is_lost_follows_its_folder(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """What cannot be given any more is not promised, and that is said."""
    first, _ = versions(world)
    world.store.hold("a", first, later(1))
    (world.packages / "a" / first).chmod(0o755)
    shutil.rmtree(world.packages / "a" / first)
    world.restart()
    assert text(world) == "two"
    assert world.rows("SELECT pinned_version_id FROM skills") == [(None,)]
    assert "is held no longer" in caplog.text
    assert world.differences() == []


@pytest.mark.parametrize(("name", "version", "said"), [
    ("b", "1", r"no skill 'b'\. There are: a\."),
    ("A", "1", r"no skill 'A'\. The closest are: a\."),
    ("a", "20200101-000000", r"no version '20200101-000000'\. These can be returned to: \d{8}-"),
    ("a", "\udcff", "has no version"),
])
def test_what_is_not_there_is_said_with_what_is(
    world: World, name: str, version: str, said: str
) -> None:
    """One sentence, and nothing is changed."""
    with pytest.raises(NotInCatalog, match=said):
        world.store.hold(name, version, later(1))
    assert text(world) == "two"


def test_a_version_that_an_earlier_release_stored_is_not_returned_to(world: World) -> None:
    """It did not note the description, among others; one sentence says so, and what can be had."""
    first, second = versions(world)
    with world.store.db.conn:
        world.store.db.execute("UPDATE versions SET described = '{}' WHERE version = ?", [first])
    with pytest.raises(NotInCatalog, match=rf"earlier release.* returned to: {second}\.$"):
        world.store.hold("a", first, later(1))
    assert text(world) == "two"


def test_only_what_is_published_can_be_held(world: World) -> None:
    """And only what is held can be let go; in place there is nothing to return to."""
    first, _ = versions(world)
    with pytest.raises(NotInCatalog, match="not held"):
        world.store.release("a", later(1))
    world.store.hold("a", first, later(1))
    world.restart(in_place=True)
    assert world.rows("SELECT pinned_version_id, description FROM skills") == [
        (None, "Counts lines.")]
    with pytest.raises(NotInCatalog, match="in place"):
        world.store.hold("a", first, later(1))
    shutil.rmtree(world.root / "a")
    world.scan()
    with pytest.raises(NotInCatalog, match="is removed"):
        world.store.hold("a", first, later(1))


def test_a_history_says_what_changed(world: World) -> None:
    """Files added, removed and changed, and how SKILL.md reads now."""
    newest, oldest = history(world.store.db, "a").versions
    assert (newest.added, newest.removed, newest.changed) == (
        (), ("old.txt",), ("SKILL.md", "x.txt"))
    assert "-description: Counts words." in newest.diff.splitlines()
    assert "+description: Counts lines." in newest.diff.splitlines()
    assert (newest.is_current, newest.has_files) == (True, True)
    assert (oldest.added, oldest.diff) == (("SKILL.md", "old.txt", "x.txt"), "")
