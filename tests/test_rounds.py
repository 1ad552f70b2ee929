"""One look at units of real folders, and what the catalog says afterwards."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import SkillWriter
from records import NOON
from sqlite_utils import Database

from catalog.record import RootSpec
from catalog.store import Store
from pipeline import rounds, scan
from pipeline.disk import Limits
from pipeline.rounds import FullScan, Report, Round
from pipeline.settle import Unit


class Folders:
    """A root, a catalog, and rounds between them without any waiting."""

    def __init__(self, root: Path) -> None:
        root.mkdir()
        self.path = root
        self.roots = [RootSpec(str(root))]
        self.store = Store(Database(sqlite3.connect(":memory:", isolation_level=None)))
        self.store.set_roots(self.roots, "rules", NOON)

    def scan(self, *, deep: bool = False, quiet: float = 0.0) -> Report:
        """Make a full pass."""
        scan = FullScan(self.store, self.roots, Limits(), quiet=quiet, trigger="re-scan",
                        deep=deep, heard_of=lambda _: False)
        list(scan.run())
        return scan.report

    def look(self, *units: str) -> Report:
        """Look at some units."""
        work = Round(self.store, self.roots, Limits(), quiet=0.0, trigger="event")
        list(work.run([Unit(str(self.path), unit) for unit in units]))
        return work.report

    def statuses(self) -> dict[str, str]:
        """Return the status of every skill folder ever seen."""
        return dict(self.store.db.execute("SELECT path, status FROM skills").fetchall())


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Folders]:
    """Return an empty root with its catalog."""
    made = Folders(tmp_path / "root")
    yield made
    made.store.close()


def test_a_scan_takes_in_every_skill_folder(folders: Folders, skill: SkillWriter) -> None:
    """At any depth, and each once."""
    for path in ("a", "deep/er/b", "a/nested"):
        skill(folders.path / path)
    assert folders.scan().outcomes == {"added": 3}
    assert folders.statuses() == dict.fromkeys(("a", "deep/er/b", "a/nested"), "active")


def test_an_unchanged_folder_is_not_read_again(folders: Folders, skill: SkillWriter) -> None:
    """A second scan finds everything as it was; a deep one reads it and finds the same."""
    skill(folders.path / "a")
    folders.scan()
    assert folders.scan().outcomes == {"unchanged": 1}
    assert folders.scan(deep=True).outcomes == {"unchanged": 1}
    assert folders.store.db.execute("SELECT count(*) FROM ingestions").fetchone() == (1,)


def test_a_folder_that_changed_a_moment_ago_is_left_to_settle(
    folders: Folders, skill: SkillWriter
) -> None:
    """It is neither taken in nor taken for gone, and the report says to come back."""
    skill(folders.path / "a")
    folders.scan()
    skill(folders.path / "a", description="Changed.")
    report = folders.scan(quiet=60.0)
    assert report.unsettled == [Unit(str(folders.path), "a")]
    assert folders.statuses() == {"a": "active"}
    assert folders.scan().outcomes == {"updated": 1}


def test_a_renamed_folder_keeps_its_row_and_history(folders: Folders, skill: SkillWriter) -> None:
    """Also when the folder above it was renamed, and other skills came at the same time."""
    skill(folders.path / "repo/a")
    skill(folders.path / "repo/b", description="Another.")
    folders.scan()
    ids = dict(folders.store.db.execute("SELECT path, id FROM skills").fetchall())
    (folders.path / "repo").rename(folders.path / "moved")
    skill(folders.path / "moved/c", description="New.")
    assert folders.look("repo", "moved").outcomes == {"renamed": 2, "added": 1}
    after = dict(folders.store.db.execute("SELECT path, id FROM skills").fetchall())
    assert (after["moved/a"], after["moved/b"]) == (ids["repo/a"], ids["repo/b"])
    assert len(after) == 3


def test_units_inside_one_another_are_looked_at_once(
    folders: Folders, skill: SkillWriter
) -> None:
    """A folder that two hints lead to is one newcomer."""
    skill(folders.path / "old")
    folders.scan()
    skill(folders.path / "repo/a")
    assert folders.look("", "repo", "repo/a", "repo").outcomes == {"added": 1, "unchanged": 1}


def test_a_copy_is_no_rename(folders: Folders, skill: SkillWriter) -> None:
    """While the old folder is there, the same content elsewhere is a skill of its own."""
    skill(folders.path / "a", name="a")
    folders.scan()
    shutil.copytree(folders.path / "a", folders.path / "b")
    folders.look("a", "b")
    assert folders.statuses() == {"a": "active", "b": "shadowed"}


def test_a_deleted_folder_is_removed_and_comes_back(folders: Folders, skill: SkillWriter) -> None:
    """Removal and return are one skill's history."""
    skill(folders.path / "a")
    folders.scan()
    shutil.rmtree(folders.path / "a")
    assert folders.look("a").outcomes == {"removed": 1}
    skill(folders.path / "a")
    assert folders.look("a").outcomes == {"added": 1}
    assert folders.statuses() == {"a": "active"}


def test_a_nested_skill_that_goes_gives_its_files_back(
    folders: Folders, skill: SkillWriter
) -> None:
    """Without its SKILL.md a folder is part of the skill around it again."""
    skill(folders.path / "a")
    skill(folders.path / "a/inner", files={"notes.txt": "n"})
    folders.scan()
    (folders.path / "a/inner/SKILL.md").unlink()
    assert folders.look("a").outcomes == {"updated": 1, "removed": 1}
    files = folders.store.db.execute(
        "SELECT f.path FROM files AS f JOIN skills AS s ON s.current_version_id = f.version"
        " WHERE s.path = 'a' ORDER BY f.path").fetchall()
    assert files == [("SKILL.md",), ("inner/notes.txt",)]


def test_a_root_that_cannot_be_read_loses_nothing(folders: Folders, skill: SkillWriter) -> None:
    """Its skills stay, and the catalog says what the trouble is until it has passed."""
    skill(folders.path / "a")
    folders.scan()
    away = folders.path.rename(folders.path.with_name("away"))
    assert list(folders.scan().troubles) == [str(folders.path)]
    assert folders.statuses() == {"a": "active"}
    assert folders.store.db.execute("SELECT trouble IS NULL FROM roots").fetchone() == (0,)
    away.rename(folders.path)
    folders.scan()
    assert folders.store.db.execute("SELECT trouble IS NULL FROM roots").fetchone() == (1,)


def test_skills_of_a_forsaken_root_are_removed(
    folders: Folders, skill: SkillWriter, tmp_path: Path
) -> None:
    """What is no longer configured is no longer offered."""
    skill(folders.path / "a")
    folders.scan()
    other = tmp_path / "other"
    other.mkdir()
    folders.roots = [RootSpec(str(other))]
    folders.store.set_roots(folders.roots, "rules", NOON)
    assert folders.scan().outcomes == {"removed": 1}
    assert folders.statuses() == {"a": "removed"}


def test_changes_that_a_rescan_finds_first_are_counted(
    folders: Folders, skill: SkillWriter
) -> None:
    """Health tells how much events had missed."""
    skill(folders.path / "a")
    folders.scan()
    row = folders.store.db.execute("SELECT missed_by_events, last_full_scan FROM health").fetchone()
    assert row[0] == 1
    assert row[1]


def test_a_file_directly_in_the_root_is_a_finding_and_no_skill(
    folders: Folders, skill: SkillWriter
) -> None:
    """It is named once, and the finding goes when the file does."""
    (folders.path / "SKILL.md").write_text("---\nname: x\ndescription: y\n---\n")
    for _ in range(2):
        folders.scan()
        assert folders.store.db.execute("SELECT count(*) FROM findings").fetchone() == (1,)
    assert folders.statuses() == {}
    (folders.path / "SKILL.md").unlink()
    folders.scan()
    assert folders.store.db.execute("SELECT count(*) FROM findings").fetchone() == (0,)


def test_batches_are_whole_at_every_pause(
    folders: Folders, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan that is cut short leaves whole skills, and the next one does the rest."""
    monkeypatch.setattr(rounds, "BATCH", 2)
    for number in range(5):
        skill(folders.path / f"s{number}", name=f"s{number}")
    scan = FullScan(folders.store, folders.roots, Limits(), quiet=0.0, trigger="start")
    next(scan.run())
    assert len(folders.statuses()) == 2
    assert folders.scan().outcomes == {"unchanged": 2, "added": 3}


def test_names_that_people_and_systems_use_are_no_trouble(
    folders: Folders, skill: SkillWriter
) -> None:
    """Spaces, options, CJK and bytes that are not UTF-8 name folders like any other."""
    undecodable = os.fsdecode(b"caf\xe9")
    for name in ("with space", "--help", "会议", undecodable):
        skill(folders.path / name, name="x")
    report = folders.scan()
    assert report.outcomes["added"] == 4
    assert set(folders.statuses()) == {"with space", "--help", "会议", r"caf\xe9"}
    assert folders.scan().outcomes == {"unchanged": 4}


def test_what_fails_inside_us_is_a_finding_of_that_folder_alone(
    folders: Folders, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug of ours on one folder rejects that one, says so, and stops nothing else."""
    skill(folders.path / "a")
    skill(folders.path / "cursed")

    def stumble(data: bytes, name: str) -> None:
        if b"cursed" in data:
            raise KeyError("spell")
        return real(data, name)  # type: ignore[no-any-return]

    real = scan.parse
    monkeypatch.setattr(scan, "parse", stumble)
    folders.scan()
    assert folders.statuses() == {"a": "active", "cursed": "rejected"}


def test_a_renamed_folder_above_keeps_twins_apart(folders: Folders, skill: SkillWriter) -> None:
    """Of folders with the same content, the one of the same name is the one that moved."""
    for path in ("p/zeta", "q/alpha"):
        skill(folders.path / path, name="same")
    folders.scan()
    ids = dict(folders.store.db.execute("SELECT path, id FROM skills").fetchall())
    (folders.path / "p").rename(folders.path / "y")
    (folders.path / "q").rename(folders.path / "x")
    folders.scan()
    after = dict(folders.store.db.execute("SELECT path, id FROM skills").fetchall())
    assert after == {"y/zeta": ids["p/zeta"], "x/alpha": ids["q/alpha"]}


def test_a_folder_that_was_only_touched_is_no_longer_pending(
    folders: Folders, skill: SkillWriter
) -> None:
    """It settled as what the catalog has."""
    skill(folders.path / "a")
    folders.scan()
    rounds.show_pending(folders.store, folders.roots, Unit(str(folders.path), "a"), NOON)
    folders.scan()
    assert folders.store.db.execute("SELECT pending_since FROM skills").fetchone() == (None,)
