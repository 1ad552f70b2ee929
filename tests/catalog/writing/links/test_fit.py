"""Directories that have no more skills than their agent tells its model whole, and a finder."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from catalog.listings.finder import description_in
from catalog.reading import status, told_skills
from tests.support.linking import Linking, links_in, names_in
from tests.support.skills import write_skill

FINDER = "skilldrop-search"


def fitting(tmp_path: Path, number: int, **link: Any) -> Linking:
    """Return a scanned catalog of long descriptions, with a directory for Claude Code."""
    it = Linking(
        tmp_path, links=[{"path": tmp_path / "agent", "for": "claude-code", "fit": True} | link]
    )
    for count in range(number):
        write_skill(it.root / f"pdf-{count:03}", description="x" * 1000)
    it.scan()
    return it


def identity(path: Path) -> tuple[int, int]:
    """Return inode and time of change of a folder, which no reader changes."""
    return path.stat().st_ino, path.stat().st_ctime_ns


def told(it: Linking) -> dict[str, Any]:
    """Return what the agent tells."""
    store = it.open()
    (directory,) = told_skills.of_directories(store.db)
    store.close()
    return directory.summary()


def test_a_directory_has_the_first_skills_and_a_finder(tmp_path: Path) -> None:
    """As many as the agent tells whole; the finder is a plain folder, also among links."""
    it = fitting(tmp_path, 60)
    names = [f"pdf-{count:03}" for count in range(23)]
    assert names_in(tmp_path / "agent") == [*names, FINDER]
    assert list(links_in(tmp_path / "agent")) == names
    others: dict[str, Any] = {"cut": [], "name": [], "none": [], "left_out": 37}
    assert told(it) == {"agent": "claude-code", "whole": 24, **others}
    text = (tmp_path / "agent" / FINDER / "SKILL.md").read_text()
    assert "more than 50 skills" in description_in(text)
    assert description_in(text).endswith(" Subjects: pdf.")
    assert f'--data "{it.settings.data}" search --for-model "the task"' in text
    assert it.differences() == []
    assert FINDER not in names_in(it.skills)


def test_a_directory_with_room_for_all_skills_has_no_finder(tmp_path: Path) -> None:
    """It comes with the first skill that has no room, and goes with it."""
    it = fitting(tmp_path, 5)
    assert names_in(tmp_path / "agent") == [f"pdf-00{count}" for count in range(5)]
    for count in range(5, 40):
        write_skill(it.root / f"pdf-{count:03}", description="x" * 1000)
    it.scan()
    assert FINDER in names_in(tmp_path / "agent")
    for count in range(5, 40):
        shutil.rmtree(it.root / f"pdf-{count:03}")
    it.with_settings(links=[]).scan()
    assert names_in(tmp_path / "agent") == []


def test_a_finder_stays_as_it_is_until_a_step_is_passed(tmp_path: Path) -> None:
    """One more skill changes no byte; the hundredth does."""
    it = fitting(tmp_path, 98)
    finder = tmp_path / "agent" / FINDER
    before = identity(finder)
    write_skill(it.root / "pdf-098", description="x")
    it.scan()
    assert identity(finder) == before
    write_skill(it.root / "pdf-099", description="x")
    it.scan()
    assert "more than 100 skills" in (finder / "SKILL.md").read_text()
    assert it.differences() == []


def test_a_change_of_one_skill_makes_room_for_another(tmp_path: Path) -> None:
    """Or takes it."""
    it = fitting(tmp_path, 30)
    write_skill(it.root / "pdf-003", description="Short.")
    it.scan()
    assert names_in(tmp_path / "agent")[-2:] == ["pdf-023", FINDER]
    write_skill(it.root / "a", description="y" * 1000)
    it.scan()
    assert names_in(tmp_path / "agent")[-2:] == ["pdf-022", FINDER]
    assert it.differences() == []


def test_featured_skills_come_first(tmp_path: Path) -> None:
    """In a directory as in the first index."""
    it = Linking(
        tmp_path,
        links=[{"path": tmp_path / "agent", "for": "codex", "fit": True}],
        indexes=[{"name": "default", "featured": ["pdf-059"]}],
    )
    for count in range(60):
        write_skill(it.root / f"pdf-{count:03}", description="x" * 1000)
    it.scan()
    assert "pdf-059" in names_in(tmp_path / "agent")
    assert told(it)["cut"] == []


@pytest.mark.parametrize("copy", [False, True])
def test_a_skill_of_the_name_is_the_finder(tmp_path: Path, copy: bool) -> None:
    """It has room before all others, and none is written."""
    it = fitting(tmp_path, 40, finder="zz-team-search", copy=copy)
    assert "zz-team-search" in names_in(tmp_path / "agent")
    write_skill(it.root / "zz-team-search", description="Finds skills.", body="# Ours\n")
    it.scan()
    assert "# Ours" in (tmp_path / "agent/zz-team-search/SKILL.md").read_text()
    assert told(it)["name"] == []
    assert it.differences() == []


def test_a_taken_name_is_never_replaced(tmp_path: Path) -> None:
    """It is said, and the skills are there."""
    write_skill(tmp_path / "agent" / FINDER, body="# Mine\n")
    it = fitting(tmp_path, 40)
    assert "# Mine" in (tmp_path / "agent" / FINDER / "SKILL.md").read_text()
    assert "pdf-022" in names_in(tmp_path / "agent")
    store = it.open()
    (directory,) = [row for row in status.load(store.db)["links"] if row["origin"] == "settings"]
    assert directory["taken"] == [FINDER]
    store.close()


def test_a_filter_that_is_gone_is_told_as_the_trouble(tmp_path: Path) -> None:
    """The skills stay as they are, and can be compared."""
    it = fitting(tmp_path, 40, index="default")
    it.with_settings(links=[], indexes=[{"name": "other"}])
    store = it.open()
    store.db.execute("UPDATE linked_directories SET is_leaving = 0, origin = 'command'")
    assert [row["told"] for row in status.load(store.db)["links"] if row["told"]] != []
    store.close()


def test_an_edited_finder_is_written_again(tmp_path: Path) -> None:
    """Like a copy; it is known again after the catalog was lost."""
    it = fitting(tmp_path, 40)
    finder = tmp_path / "agent" / FINDER
    text = (finder / "SKILL.md").read_text()
    finder.chmod(0o755)
    (finder / "SKILL.md").unlink()
    assert it.differences() != []
    it.scan()
    assert (finder / "SKILL.md").read_text() == text
    for file in it.settings.data.glob("catalog.db*"):
        file.unlink()
    it.scan()
    assert it.differences() == []
    it.with_settings(links=[]).scan()
    assert names_in(tmp_path / "agent") == []
