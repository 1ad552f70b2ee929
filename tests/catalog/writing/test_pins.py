"""Pins of skills to versions, and their end."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from catalog.model import finding
from catalog.model.errors import NotInCatalog
from catalog.model.setting import Retention
from catalog.reading import service_health
from catalog.reading import status as reading_status
from catalog.reading.search import word_search
from catalog.reading.skills.versions import history
from tests.support.packages import World, audits, later
from tests.support.skills import SkillWriter, write_skill


@pytest.fixture
def world(tmp_path: Path, skill: SkillWriter) -> Iterator[World]:
    """Return a catalog with a skill `a` of two versions, the first about words."""
    made = World(tmp_path)
    skill(
        made.root / "a",
        description="Counts words.",
        more="license: One",
        body="# Sheep\n\nWool.\n",
        files={"x.txt": "one", "old.txt": "o"},
    )
    made.scan()
    skill(
        made.root / "a",
        description="Counts lines.",
        body="# Goats\n\nHorn.\n",
        files={"x.txt": "two"},
    )
    (made.root / "a/old.txt").unlink()
    made.scan()
    yield made
    made.store.close()


def versions(world: World) -> list[str]:
    """Return the names of all versions, oldest first."""
    return [row["version"] for row in history(world.store.db, "a")["versions"]][::-1]


def text(world: World) -> str:
    """Return the published text of x.txt."""
    return (world.current("a") / "x.txt").read_text()


@pytest.mark.requirement("own/versions-pinned")
def test_a_pin_restores_everything_of_the_earlier_version(world: World) -> None:
    """Files, description and search are those of the version, and a finding reports the pin."""
    before = world.rows("SELECT * FROM skills")
    text_before = world.rows("SELECT * FROM skill_text")
    first, second = versions(world)
    world.store.pin("a", first, later(1))
    assert text(world) == "one"
    assert world.rows("SELECT description, license FROM skills") == [("Counts words.", "One")]
    assert [hit.name for hit in word_search.search(world.store.db, "sheep wool").hits] == ["a"]
    assert world.rows("SELECT body FROM searched_texts") == [("# Sheep\n\nWool.",)]
    assert not word_search.search(world.store.db, "goats").hits
    assert [hit.name for hit in word_search.search(world.store.db, "old.txt").hits] == ["a"]
    (pinned,) = reading_status.load(world.store.db)["version_pinned"]
    assert (pinned["path"], pinned["reason"]) == ("a", first)
    assert history(world.store.db, "a")["pinned_to"] == first
    assert world.differences() == []
    world.store.unpin("a", later(2))
    assert text(world) == "two"
    assert world.rows("SELECT * FROM skills") == before
    assert world.rows("SELECT * FROM skill_text") == text_before
    assert world.rows("SELECT code FROM findings") == []
    assert [hit.name for hit in word_search.search(world.store.db, "goats").hits] == ["a"]
    assert world.differences() == []
    assert world.scan().outcomes == {"unchanged": 1}
    assert [row["version"] for row in history(world.store.db, "a")["versions"]] == [
        second,
        first,
    ]


def test_a_body_is_restored_with_any_line_ends(world: World, skill: SkillWriter) -> None:
    """It is read from the version's SKILL.md, which may have other line ends."""
    file = world.root / "a/SKILL.md"
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n") + b" \r\n\r\n")
    world.scan()
    windows = versions(world)[-1]
    skill(world.root / "a", body="Other.")
    world.scan()
    world.store.pin("a", windows, later(1))
    assert world.rows("SELECT body FROM searched_texts") == [("# Goats\n\nHorn.",)]


def test_changes_of_its_folder_do_not_affect_a_pinned_skill(
    world: World, skill: SkillWriter
) -> None:
    """Edits become versions, rejections findings; `unpin` publishes the newest version."""
    first, _ = versions(world)
    world.store.pin("a", first, later(1))
    skill(world.root / "a", description="Third.", files={"x.txt": "three"})
    assert world.scan().outcomes == {"updated": 1}
    assert world.scan().outcomes == {"unchanged": 1}
    (world.root / "a/SKILL.md").write_text("---\nname: a\n---\n")
    assert world.scan(deep=True).outcomes == {"rejected": 1}
    assert text(world) == "one"
    assert world.rows("SELECT description, status FROM skills") == [("Counts words.", "active")]
    codes = {code for (code,) in world.rows("SELECT code FROM findings")}
    assert finding.LAST_GOOD_VERSION_STANDS.code in codes
    assert len(reading_status.load(world.store.db)["version_pinned"]) == 1
    assert len(versions(world)) == 3
    world.restart()
    assert text(world) == "one"
    assert world.differences() == []
    shutil.rmtree(world.root / "a/x.txt", ignore_errors=True)
    world.store.unpin("a", later(2))
    assert text(world) == "three"
    assert world.rows("SELECT description FROM skills") == [("Third.",)]
    assert world.differences() == []


def test_a_pin_outlasts_removal_and_return(world: World, skill: SkillWriter) -> None:
    """Replacing a folder by deleting and copying is an ordinary edit."""
    first, _ = versions(world)
    world.store.pin("a", first, later(1))
    (world.root / "a").rename(world.folder / "away")
    world.scan()
    assert not word_search.search(world.store.db, "sheep").hits
    skill(world.folder / "away", name="a", description="Fourth.", files={"x.txt": "four"})
    (world.folder / "away").rename(world.root / "a")
    world.scan()
    assert text(world) == "one"
    assert [hit.name for hit in word_search.search(world.store.db, "sheep").hits] == ["a"]
    world.store.unpin("a", later(2))
    assert text(world) == "four"
    assert world.differences() == []


def lose(world: World, version: str) -> None:
    """Delete the package of a version."""
    (world.packages / "a" / version).chmod(0o755)
    shutil.rmtree(world.packages / "a" / version)


def damage(world: World, version: str) -> None:
    """Change a file of the package of a version."""
    file = world.packages / "a" / version / "x.txt"
    file.chmod(0o644)
    file.write_text("bad")


def restart(world: World) -> None:
    """Start again."""
    world.restart()


def check(world: World) -> None:
    """Check all packages."""
    list(world.store.repair.check(later(2), deep=True))


def verify(world: World) -> None:
    """Hash all packages, a few at a time."""
    for _ in range(10):
        list(world.store.repair.verify(lambda: later(2)))


def troubles(world: World) -> list[str]:
    """Return the problems that health reports."""
    report = service_health.summary(service_health.load(world.store.db), later(3))
    assert report.is_well == (not report.troubles)
    return [trouble["message"] for trouble in report.troubles]


def assert_withheld(world: World, version: str) -> None:
    """Assert that the skill stays pinned, is not published, and is reported by health."""
    world.publish()
    skill = world.rows("SELECT status, shadowed_by, package_path FROM skills WHERE path = 'a'")
    assert skill == [("shadowed", None, None)]
    assert history(world.store.db, "a")["pinned_to"] == version
    assert not os.path.lexists(world.packages / "a/current")
    assert not word_search.search(world.store.db, "sheep goats").hits
    assert "a: " not in (world.folder / "index/default.txt").read_text()
    (message,) = troubles(world)
    assert message.startswith(f"a is pinned to version {version}, whose files are lost")
    assert "`skilldrop unpin a`" in message
    assert "`skilldrop pin a VERSION`" in message
    assert audits(world) == []


@pytest.mark.parametrize(
    ("harm", "notice"),
    [(lose, restart), (lose, check), (lose, verify), (damage, check), (damage, verify)],
)
def test_damage_to_a_pinned_version_does_not_unpin_the_skill(
    world: World,
    harm: Callable[[World, str], None],
    notice: Callable[[World], None],
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The skill is not published until it is unpinned, despite changes of its folder."""
    first, _ = versions(world)
    world.store.pin("a", first, later(1))
    world.publish()
    harm(world, first)
    notice(world)
    assert_withheld(world, first)
    world.log()
    assert f"withheld a (pinned to version {first}, whose files are lost" in caplog.text
    write_skill(world.root / "a", description="Third.", files={"x.txt": "three"})
    world.scan()
    assert_withheld(world, first)
    (world.root / "a/SKILL.md").write_text("---\nname: a\n---\n")
    world.scan(deep=True)
    assert_withheld(world, first)
    world.restart()
    assert_withheld(world, first)
    world.store.unpin("a", later(4))
    assert text(world) == "three"
    assert troubles(world) == []
    assert audits(world) == []
    assert world.differences() == []


def test_removal_and_return_do_not_unpin_a_withheld_skill(world: World) -> None:
    """Health reports no problem while the folder is missing."""
    first, _ = versions(world)
    world.store.pin("a", first, later(1))
    damage(world, first)
    check(world)
    (world.root / "a").rename(world.folder / "away")
    world.scan()
    assert troubles(world) == []
    (world.folder / "away").rename(world.root / "a")
    world.scan()
    assert history(world.store.db, "a")["pinned_to"] == first
    write_skill(world.root / "a", description="Fourth.", files={"x.txt": "four"})
    world.scan()
    assert_withheld(world, first)
    world.store.unpin("a", later(4))
    assert text(world) == "four"
    assert troubles(world) == []
    assert audits(world) == []
    assert world.differences() == []


def test_a_withheld_skill_can_be_pinned_to_another_version(world: World) -> None:
    """Its other packages are kept like those of a published skill."""
    first, second = versions(world)
    world.store.pin("a", first, later(1))
    write_skill(world.root / "a", description="Third.", files={"x.txt": "three"})
    world.scan()
    damage(world, first)
    check(world)
    write_skill(world.root / "a", description="Fourth.", files={"x.txt": "four"})
    world.scan()
    world.store.collect(Retention(), later(60 * 24))
    _, _, third, fourth = versions(world)
    for version, expected in ((third, "three"), (fourth, "four"), (second, "two")):
        world.store.pin("a", version, later(5))
        assert text(world) == expected
        assert troubles(world) == []
        assert audits(world) == []
    assert world.differences() == []


@pytest.mark.parametrize("notice", [restart, check])
def test_a_lost_pinned_version_is_rebuilt_from_an_equal_folder(
    world: World, skill: SkillWriter, notice: Callable[[World], None]
) -> None:
    """Under its own name, even if the same content was stored again since."""
    first, _ = versions(world)
    world.store.pin("a", first, later(1))
    rewrite_first(world)
    world.scan()
    lose(world, first)
    notice(world)
    assert text(world) == "one"
    assert history(world.store.db, "a")["pinned_to"] == first
    assert troubles(world) == []
    assert audits(world) == []
    assert world.differences() == []


def rewrite_first(world: World) -> None:
    """Give the folder the content of the first version again."""
    write_skill(
        world.root / "a",
        description="Counts words.",
        more="license: One",
        body="# Sheep\n\nWool.\n",
        files={"x.txt": "one", "old.txt": "o"},
    )


def test_a_withheld_skill_is_published_again_once_its_folder_has_the_content(world: World) -> None:
    """It is still pinned, and health is good."""
    first, _ = versions(world)
    world.store.pin("a", first, later(1))
    damage(world, first)
    check(world)
    assert_withheld(world, first)
    rewrite_first(world)
    world.scan()
    assert text(world) == "one"
    assert world.rows("SELECT status, description FROM skills") == [("active", "Counts words.")]
    assert history(world.store.db, "a")["pinned_to"] == first
    assert [hit.name for hit in word_search.search(world.store.db, "sheep").hits] == ["a"]
    assert troubles(world) == []
    assert audits(world) == []
    assert world.differences() == []


@pytest.mark.parametrize("notice", [restart, check])
def test_an_unnoticed_change_of_the_folder_does_not_unpin_the_skill(
    world: World, notice: Callable[[World], None]
) -> None:
    """Only the attempt to rebuild the package shows the change."""
    first, _ = versions(world)
    world.store.pin("a", first, later(1))
    rewrite_first(world)
    world.scan()
    *_, again = versions(world)
    write_skill(world.root / "a", description="Third.", files={"x.txt": "three"})
    for version in (first, again):  # their files are equal, so one can be rebuilt from the other
        lose(world, version)
    notice(world)
    assert_withheld(world, first)
    world.scan()
    assert_withheld(world, first)
    world.store.unpin("a", later(4))
    assert text(world) == "three"


def test_a_withheld_skill_keeps_its_name(world: World, skill: SkillWriter) -> None:
    """A skill of lower precedence stays shadowed, even when it changes."""
    skill(world.root / "deep/er/a", description="Another.", files={"x.txt": "other"})
    world.scan()
    first, _ = versions(world)
    world.store.pin("a", first, later(1))
    damage(world, first)
    check(world)
    assert_withheld(world, first)
    skill(world.root / "deep/er/a", description="Newer.", files={"x.txt": "newer"})
    world.scan()
    world.restart()
    assert_withheld(world, first)
    (reason,) = world.rows("SELECT status, status_reason FROM skills WHERE path = 'deep/er/a'")
    assert reason == (
        "shadowed",
        f"shadowed by the project skill in {world.root}/a, accepted first, with other content",
    )
    shutil.rmtree(world.root / "a")
    world.scan()
    assert text(world) == "newer"
    assert troubles(world) == []


@pytest.mark.parametrize(
    ("name", "version", "message"),
    [
        ("b", "1", r"no skill 'b'\. There are: a\."),
        ("A", "1", r"no skill 'A'\. The closest are: a\."),
        (
            "a",
            "20200101-000000",
            r"no version '20200101-000000'\. Versions to choose from: \d{8}-",
        ),
        ("a", "\udcff", "has no version"),
    ],
)
def test_an_unknown_skill_or_version_is_reported_with_the_existing_ones(
    world: World, name: str, version: str, message: str
) -> None:
    """The catalog does not change."""
    with pytest.raises(NotInCatalog, match=message):
        world.store.pin(name, version, later(1))
    assert text(world) == "two"


def test_a_version_without_a_description_cannot_be_pinned(world: World) -> None:
    """The message names the versions that can be pinned."""
    first, second = versions(world)
    with world.store.db.conn:
        world.store.db.execute(
            "UPDATE versions SET described = '{}' WHERE version = ?",
            [first],
        )
    with pytest.raises(NotInCatalog, match=rf"are not kept. Versions to choose from: {second}\.$"):
        world.store.pin("a", first, later(1))
    assert text(world) == "two"


def test_only_published_skills_can_be_pinned(world: World) -> None:
    """Only pinned skills can be unpinned; skills published in place have no versions to pin."""
    first, _ = versions(world)
    with pytest.raises(NotInCatalog, match="not pinned"):
        world.store.unpin("a", later(1))
    world.store.pin("a", first, later(1))
    world.restart(in_place=True)
    assert world.rows("SELECT pinned_version_id, description FROM skills") == [
        (None, "Counts lines.")
    ]
    with pytest.raises(NotInCatalog, match="in place"):
        world.store.pin("a", first, later(1))
    shutil.rmtree(world.root / "a")
    world.scan()
    with pytest.raises(NotInCatalog, match="is removed"):
        world.store.pin("a", first, later(1))


@pytest.mark.requirement("own/versions-listed")
def test_a_history_reports_changes(world: World) -> None:
    """Files added, removed and changed, and the diff of SKILL.md."""
    newest, oldest = history(world.store.db, "a", world.packages)["versions"]
    assert (newest["added"], newest["removed"], newest["changed"]) == (
        (),
        ("old.txt",),
        ("SKILL.md", "x.txt"),
    )
    assert "-description: Counts words." in newest["diff"].splitlines()
    assert "+description: Counts lines." in newest["diff"].splitlines()
    assert (newest["current"], newest["has_files"]) == (True, True)
    assert (oldest["added"], oldest["diff"]) == (("SKILL.md", "old.txt", "x.txt"), "")


def test_a_pin_to_an_earlier_name_comes_after_its_present_holder(
    world: World, skill: SkillWriter
) -> None:
    """The skill gave the name up, and another one took it."""
    _, earlier = versions(world)
    skill(world.root / "a", name="renamed")
    world.scan()
    skill(world.root / "other", name="a", body="Other.\n")
    world.scan()
    world.store.pin("renamed", earlier, later(1))
    assert world.rows("SELECT path FROM skills WHERE skill_id = 'a' AND status = 'active'") == [
        ("other",)
    ]
    assert world.differences() == []


def test_unpin_after_a_rename_restores_the_verdict_on_the_new_folder(world: World) -> None:
    """A folder that lost the name of its skill while it was pinned is invalid after `unpin`."""
    world.store.pin("a", versions(world)[0], later(1))
    (world.root / "a").rename(world.root / "other")
    world.scan()
    world.store.unpin("a", later(2))
    assert world.rows("SELECT path, spec_valid FROM skills") == [("other", 0)]
    assert not audits(world)
