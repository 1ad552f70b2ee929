"""Scans of units in real folders, and the catalog afterwards."""

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from catalog.model.skill import GitOrigin, RootSpec
from catalog.model.values import ChangeOutcome
from catalog.writing.store import Store
from pipeline.parsing import document
from pipeline.parsing.document import Parsed, parse
from pipeline.roots.archives import reader as archives
from pipeline.service.scanning import change_batches
from pipeline.service.scanning import removals as sync_removals
from pipeline.service.scanning.change_batches import Report
from pipeline.service.scanning.scanner import place_of
from pipeline.service.scanning.synchronizer import FullScan
from pipeline.watch.settling import WatchUnit
from tests.support.made_archives import make_tar, make_zip
from tests.support.records import NOON
from tests.support.scanning import plan_of, scan_all, scan_units
from tests.support.skills import SkillWriter


class Folders:
    """Root and catalog, with scans that do not wait."""

    def __init__(self, root: Path) -> None:
        root.mkdir()
        self.path = root
        self.roots = [RootSpec(str(root))]
        self.store = Store.in_memory()
        self.store.roots.configure(self.roots, "rules", NOON)

    def scan(
        self, *, deep: bool = False, quiet: float = 0.0, accepts_removals: bool = False
    ) -> Report:
        """Make a full scan."""
        return scan_all(
            self.store,
            self.roots,
            quiet=quiet,
            deep=deep,
            was_announced=lambda _: False,
            accepts_removals=accepts_removals,
        )

    def look(self, *units: str) -> Report:
        """Scan some units."""
        return scan_units(self.store, self.roots, *units)

    def statuses(self) -> dict[str, str]:
        """Return the status of every skill folder ever seen."""
        return dict(self.store.db.execute("SELECT path, status FROM skills").fetchall())


@pytest.fixture
def folders(tmp_path: Path) -> Iterator[Folders]:
    """Return an empty root with its catalog."""
    made = Folders(tmp_path / "root")
    yield made
    made.store.close()


def test_a_scan_stores_every_skill_folder(folders: Folders, skill: SkillWriter) -> None:
    """At any depth, and each once."""
    for path in ("a", "deep/er/b", "a/nested"):
        skill(folders.path / path)
    assert folders.scan().outcomes == {"added": 3}
    assert folders.statuses() == dict.fromkeys(("a", "deep/er/b", "a/nested"), "active")


def test_an_unchanged_folder_is_not_read_again(folders: Folders, skill: SkillWriter) -> None:
    """A second scan finds no change; a deep scan reads it and finds none either."""
    skill(folders.path / "a")
    folders.scan()
    assert folders.scan().outcomes == {"unchanged": 1}
    assert folders.scan(deep=True).outcomes == {"unchanged": 1}
    assert folders.store.db.execute("SELECT count(*) FROM ingestions").fetchone() == (1,)


def test_a_folder_that_changed_just_now_is_left_to_settle(
    folders: Folders, skill: SkillWriter
) -> None:
    """It is neither stored nor removed, and the report lists it for later."""
    skill(folders.path / "a")
    folders.scan()
    skill(folders.path / "a", description="Changed.")
    report = folders.scan(quiet=60.0)
    assert report.unsettled == [WatchUnit(str(folders.path), "a")]
    assert folders.statuses() == {"a": "active"}
    assert folders.scan().outcomes == {"updated": 1}


def test_a_renamed_folder_keeps_its_row_and_history(folders: Folders, skill: SkillWriter) -> None:
    """Also if its parent was renamed, and other skills were added at the same time."""
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


def test_nested_units_are_scanned_once(folders: Folders, skill: SkillWriter) -> None:
    """A folder with two hints is added once."""
    skill(folders.path / "old")
    folders.scan()
    skill(folders.path / "repo/a")
    assert folders.look("", "repo", "repo/a", "repo").outcomes == {"added": 1, "unchanged": 1}


def test_a_copy_is_no_rename(folders: Folders, skill: SkillWriter) -> None:
    """While the old folder exists, the same content elsewhere is a new skill."""
    skill(folders.path / "a", name="a")
    folders.scan()
    shutil.copytree(folders.path / "a", folders.path / "b")
    folders.look("a", "b")
    assert folders.statuses() == {"a": "active", "b": "shadowed"}


def test_a_deleted_folder_is_removed_and_comes_back(folders: Folders, skill: SkillWriter) -> None:
    """Removal and return belong to the history of one skill."""
    skill(folders.path / "a")
    folders.scan()
    shutil.rmtree(folders.path / "a")
    assert folders.look("a").outcomes == {"removed": 1}
    skill(folders.path / "a")
    assert folders.look("a").outcomes == {"added": 1}
    assert folders.statuses() == {"a": "active"}


def test_a_removed_nested_skill_returns_its_files_to_the_outer_one(
    folders: Folders, skill: SkillWriter
) -> None:
    """A folder without SKILL.md is part of the skill around it."""
    skill(folders.path / "a")
    skill(folders.path / "a/inner", files={"notes.txt": "n"})
    folders.scan()
    (folders.path / "a/inner/SKILL.md").unlink()
    assert folders.look("a").outcomes == {"updated": 1, "removed": 1}
    files = folders.store.db.execute(
        "SELECT f.path FROM files AS f JOIN skills AS s ON s.current_version_id = f.version"
        " WHERE s.path = 'a' ORDER BY f.path"
    ).fetchall()
    assert files == [("SKILL.md",), ("inner/notes.txt",)]


def test_a_root_that_cannot_be_read_loses_nothing(folders: Folders, skill: SkillWriter) -> None:
    """Its skills stay, and the catalog has the problem until it is solved."""
    skill(folders.path / "a")
    folders.scan()
    away = folders.path.rename(folders.path.with_name("away"))
    assert list(folders.scan().troubles) == [str(folders.path)]
    assert folders.statuses() == {"a": "active"}
    assert folders.store.db.execute("SELECT trouble IS NULL FROM roots").fetchone() == (0,)
    away.rename(folders.path)
    folders.scan()
    assert folders.store.db.execute("SELECT trouble IS NULL FROM roots").fetchone() == (1,)


def test_skills_of_a_root_that_is_no_longer_configured_are_held(
    folders: Folders, skill: SkillWriter, tmp_path: Path
) -> None:
    """Until the removal is accepted, or the root is configured again."""
    skill(folders.path / "a")
    folders.scan()
    row = "SELECT status, digest, fingerprint, pending_since, pending_reason FROM skills"
    before = folders.store.db.execute(row).fetchall()
    other = tmp_path / "other"
    other.mkdir()
    configured, wrong = folders.roots, [RootSpec(str(other))]
    for roots, outcome in ((wrong, "held"), (configured, "unchanged"), (wrong, "held")):
        folders.roots = roots
        folders.store.roots.configure(roots, "rules", NOON)
        assert folders.scan().outcomes == {outcome: 1}
        assert folders.statuses() == {"a": "active"}
        assert (folders.store.db.execute(row).fetchall() == before) == (roots is configured)
    assert folders.scan(accepts_removals=True).outcomes == {"removed": 1}
    assert folders.statuses() == {"a": "removed"}


def test_changes_that_a_rescan_finds_first_are_counted(
    folders: Folders, skill: SkillWriter
) -> None:
    """Health has the number of changes without events."""
    skill(folders.path / "a")
    folders.scan()
    row = folders.store.db.execute("SELECT missed_by_events, last_full_scan FROM health").fetchone()
    assert row[0] == 1
    assert row[1]


def test_a_file_directly_in_the_root_is_a_finding_and_no_skill(
    folders: Folders, skill: SkillWriter
) -> None:
    """It is reported once, and the finding disappears with the file."""
    (folders.path / "SKILL.md").write_text("---\nname: x\ndescription: y\n---\n")
    for _ in range(2):
        folders.scan()
        assert folders.store.db.execute("SELECT count(*) FROM findings").fetchone() == (1,)
    assert folders.statuses() == {}
    (folders.path / "SKILL.md").unlink()
    folders.scan()
    assert folders.store.db.execute("SELECT count(*) FROM findings").fetchone() == (0,)


def skill_md(name: str, description: str = "Counts words.") -> str:
    """Return a SKILL.md."""
    return f"---\nname: {name}\ndescription: {description}\n---\n"


@pytest.mark.requirement("prd/packages-archive")
@pytest.mark.requirement("textbook/plugin-name", "textbook/plugin-layout")
def test_skills_of_a_plugin_root_are_named_by_their_plugin(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """In the folder `skills` of one plugin, by it; in a folder of plugins, by the first folder."""
    for path in ("office/skills/pdf", "office/skills/more/tidy", "plugins/red/skills/tidy"):
        skill(tmp_path / path)
    make_zip(tmp_path / "office/skills/x.zip", {"xls/SKILL.md": skill_md("xls")})
    origin = GitOrigin("https://git.example/acme/blue.git", path="skills")
    roots = [RootSpec(f"{tmp_path}/{path}", "plugin") for path in ("office/skills", "plugins")]
    store = Store.in_memory()
    store.roots.configure(roots, "rules", NOON)
    scan_all(store, roots, quiet=0.0, was_announced=lambda _: False)
    names = {name for (name,) in store.db.execute("SELECT name FROM skills").fetchall()}
    assert names == {"office:pdf", "more:tidy", "office:xls", "red:tidy"}
    assert place_of(RootSpec("/mirrors/x", "plugin", origin=origin), "pdf").plugin == "blue"
    assert place_of(RootSpec("/office/skills"), "pdf").namespace is None
    store.close()


def test_an_archive_is_stored_as_its_skills(folders: Folders, skill: SkillWriter) -> None:
    """They are added, changed and removed with it; unchanged it is not opened again."""
    skill(folders.path / "group/plain")
    path = folders.path / "group/x.zip"
    make_zip(path, {"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    assert folders.scan().outcomes == {"added": 3}
    path.chmod(0o644)
    make_zip(
        path,
        {
            "a/SKILL.md": skill_md("a"),
            "b/SKILL.md": skill_md("b", "Now counts more."),
            "c/SKILL.md": skill_md("c"),
        },
    )
    assert folders.look("group/x.zip").outcomes == {"unchanged": 1, "updated": 1, "added": 1}
    path.rename(folders.path / "y.zip")
    assert folders.look("group/x.zip", "y.zip").outcomes == {"renamed": 3}
    assert set(folders.statuses()) == {"group/plain", "y.zip!/a", "y.zip!/b", "y.zip!/c"}
    (folders.path / "y.zip").unlink()
    assert folders.look("y.zip").outcomes == {"removed": 3}


def test_an_unchanged_archive_is_not_opened(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither a good nor a rejected one; a deep scan opens both."""
    make_zip(folders.path / "x.zip", {"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    make_zip(folders.path / "none.zip", {"a/README.md": "x"})
    assert folders.scan().outcomes == {"added": 2, "rejected": 1}
    monkeypatch.setattr(archives, "open_archive", lambda _: pytest.fail("it was opened"))
    assert folders.scan().outcomes == {"unchanged": 3}
    monkeypatch.undo()
    assert folders.scan(deep=True).outcomes == {"unchanged": 3}


def test_an_interrupted_scan_continues_inside_an_archive(
    folders: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An archive of which only some skills are stored is read again."""
    make_zip(folders.path / "x.zip", {f"{n}/SKILL.md": skill_md(f"s{n}") for n in range(5)})
    monkeypatch.setattr(change_batches, "BATCH", 2)
    cut = FullScan(plan_of(folders.store, folders.roots, trigger="start"))
    next(cut.run_all())
    assert len(folders.statuses()) == 2
    assert folders.scan().outcomes == {"unchanged": 2, "added": 3}


def test_an_archive_is_pending_while_it_arrives(folders: Folders) -> None:
    """A truncated one first waits and is later rejected; a complete one is read."""
    path = folders.path / "x.tgz"
    whole = make_tar(path, {"a/SKILL.md": skill_md("a")}).read_bytes()
    path.write_bytes(whole[:-30])
    report = folders.scan(quiet=60.0)
    assert report.unsettled == [WatchUnit(str(folders.path), "x.tgz!")]
    assert folders.scan().outcomes == {"rejected": 1}
    assert folders.statuses() == {"x.tgz!": "rejected"}
    path.write_bytes(whole)
    assert folders.look("x.tgz").outcomes == {"added": 1, "removed": 1}
    assert folders.statuses() == {"x.tgz!": "removed", "x.tgz!/a": "active"}


def test_the_skills_of_an_archive_outlive_a_bad_copy_of_it(folders: Folders) -> None:
    """Their last good versions stay, with a finding."""
    path = folders.path / "x.tgz"
    whole = make_tar(path, {"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")}).read_bytes()
    folders.scan()
    path.write_bytes(whole[:-30])
    assert folders.look("x.tgz").outcomes == {"rejected": 2}
    assert folders.scan().outcomes == {"unchanged": 2}
    assert folders.statuses() == {"x.tgz!/a": "active", "x.tgz!/b": "active"}
    rejected = "SELECT count(*) FROM skills WHERE newest_rejected_at IS NOT NULL"
    assert folders.store.db.execute(rejected).fetchone() == (2,)
    path.write_bytes(whole)
    folders.look("x.tgz")
    assert folders.store.db.execute(rejected).fetchone() == (0,)


def test_a_skill_moves_into_out_of_and_inside_archives(
    folders: Folders, skill: SkillWriter
) -> None:
    """Folders with the same content are one skill, wherever they are."""
    skill(folders.path / "a", files={"SKILL.md": skill_md("a")})
    folders.scan()
    (row,) = folders.store.db.execute("SELECT id FROM skills").fetchone()
    where = "SELECT path FROM skills WHERE status = 'active' AND id = ?"
    shutil.rmtree(folders.path / "a")
    make_zip(folders.path / "x.zip", {"a-1.0/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    assert folders.scan().outcomes == {"renamed": 1, "added": 1}
    assert folders.store.db.execute(where, [row]).fetchone() == ("x.zip!/a-1.0",)
    make_zip(folders.path / "x.zip", {"a-2.0/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    assert folders.scan().outcomes == {"renamed": 1, "unchanged": 1}
    assert folders.store.db.execute(where, [row]).fetchone() == ("x.zip!/a-2.0",)
    (folders.path / "x.zip").unlink()
    skill(folders.path / "again", files={"SKILL.md": skill_md("a")})
    assert folders.scan().outcomes == {"renamed": 1, "removed": 1}
    assert folders.store.db.execute(where, [row]).fetchone() == ("again",)


def test_a_changed_skill_in_an_archive_is_not_taken_for_a_moved_one(folders: Folders) -> None:
    """Its new content may be another skill's old content; that one's row follows its move."""
    path = folders.path / "x.zip"
    make_zip(path, {"a/SKILL.md": skill_md("a"), "b/SKILL.md": skill_md("b")})
    folders.scan()
    make_zip(path, {"a/SKILL.md": skill_md("b"), "c/SKILL.md": skill_md("b")})
    assert folders.scan().outcomes == {"updated": 1, "renamed": 1}


def test_a_file_and_a_directory_take_each_others_name(folders: Folders, skill: SkillWriter) -> None:
    """One hint covers both."""
    make_zip(folders.path / "x.zip", {"a/SKILL.md": skill_md("a")})
    folders.scan()
    (folders.path / "x.zip").unlink()
    skill(folders.path / "x.zip/b")
    assert folders.look("x.zip").outcomes == {"added": 1, "removed": 1}
    shutil.rmtree(folders.path / "x.zip")
    make_zip(folders.path / "x.zip", {"a/SKILL.md": skill_md("a")})
    assert folders.look("x.zip").outcomes == {"added": 1, "removed": 1}
    assert folders.statuses() == {"x.zip!/a": "active", "x.zip/b": "removed"}


def test_an_interrupted_scan_leaves_complete_skills(
    folders: Folders, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next scan does the rest."""
    monkeypatch.setattr(change_batches, "BATCH", 2)
    for number in range(5):
        skill(folders.path / f"s{number}", name=f"s{number}")
    scan = FullScan(plan_of(folders.store, folders.roots, trigger="start"))
    next(scan.run_all())
    assert len(folders.statuses()) == 2
    assert folders.scan().outcomes == {"unchanged": 2, "added": 3}


@pytest.mark.parametrize(
    ("raw", "path", "skill_id"),
    [
        (b"with space", "with space", "with-space"),
        (b"--help", "--help", "help"),
        (b"-rf", "-rf", "rf"),
        (b'it\'s "quoted"', 'it\'s "quoted"', "it-s-quoted"),
        ("会议".encode(), "会议", "会议"),
        ("🚀".encode(), "🚀", None),
        (b"line\nfeed\x1b[2J", "line\nfeed\x1b[2J", "line-feed-2j"),
        (b"caf\xe9", r"caf\xe9", "caf-xe9"),
        ("cafe\u0301".encode(), "cafe\u0301", "café"),
        (b"CON", "CON", "con"),
        (b"aux.md", "aux.md", "aux-md"),
        (b"back\\slash", r"back\\slash", "back-slash"),
        (b"...", "...", None),
        (b"x" * 255, "x" * 255, None),
        ("会".encode() * 85, "会" * 85, None),
    ],
    ids=repr,
)
def test_a_folder_may_have_any_name(
    folders: Folders, skill: SkillWriter, raw: bytes, path: str, skill_id: str | None
) -> None:
    """It has a path that is text, and a skill_id."""
    folder = folders.path / os.fsdecode(raw)
    skill(folder, files={"SKILL.md": "---\ndescription: Counts words.\n---\n"})
    assert folders.scan().outcomes == {"added": 1}
    ((found, name),) = folders.store.db.execute("SELECT path, skill_id FROM skills").fetchall()
    assert found == path
    assert name == (skill_id or name)
    assert re.fullmatch(r"[^\W_A-Z]+(-+[^\W_A-Z]+)*", name)
    assert len(name.encode()) <= 120
    assert folders.scan().outcomes == {"unchanged": 1}
    (folder / "SKILL.md").write_text("---\ndescription: Counts more.\n---\n")
    assert folders.look(path).outcomes == {"updated": 1}
    shutil.rmtree(folder)
    assert folders.look(path).outcomes == {"removed": 1}


def test_names_that_differ_only_in_spelling_compete(folders: Folders, skill: SkillWriter) -> None:
    """In case, or in the Unicode form of a letter; the spelling of the identifier wins."""
    for name in ("foo", "Foo", "caf\u00e9", "cafe\u0301"):
        skill(folders.path / name)
    assert folders.scan().outcomes == {"added": 4}
    assert folders.statuses() == {
        "Foo": "shadowed",
        "foo": "active",
        "cafe\u0301": "shadowed",
        "caf\u00e9": "active",
    }


def test_two_spellings_of_skill_md_reject_only_that_folder(
    folders: Folders, skill: SkillWriter
) -> None:
    """So does a folder that exceeds a limit."""
    skill(folders.path / "good")
    skill(folders.path / "twice", files={"skill.md": "---\nname: x\n---\n"})
    skill(folders.path / "many", files={str(number): "" for number in range(2001)})
    skill(folders.path / "large", files={"SKILL.md": "x" * (1 << 20 | 1)})
    skill(folders.path / ("d/" * 33) / "deep")
    assert folders.scan().outcomes == {"added": 1, "rejected": 3}
    found = folders.store.db.execute(
        "SELECT folder, code FROM findings WHERE severity = 'error' ORDER BY folder"
    ).fetchall()
    assert found == [
        ("/".join("d" * 33), "folder-too-deep"),
        ("large", "skill-md-too-large"),
        ("many", "too-many-files"),
        ("twice", "skill-md-twice"),
    ]


def test_an_internal_error_rejects_only_that_folder(
    folders: Folders, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A finding reports it, and the scan continues."""
    skill(folders.path / "a")
    skill(folders.path / "cursed")

    def stumble(data: bytes, name: str) -> Parsed:
        if b"cursed" in data:
            raise KeyError("spell")
        return parse(data, name)

    monkeypatch.setattr(document, "parse", stumble)
    folders.scan()
    assert folders.statuses() == {"a": "active", "cursed": "rejected"}


def test_a_renamed_parent_keeps_equal_folders_apart(folders: Folders, skill: SkillWriter) -> None:
    """Of folders with the same content, the one with the same name has moved."""
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
    """Its content is the stored one."""
    skill(folders.path / "a")
    folders.scan()
    folders.store.skills.set_pending(place_of(folders.roots[0], "a"), "a", "a", NOON, "changing")
    folders.scan()
    assert folders.store.db.execute("SELECT pending_since FROM skills").fetchone() == (None,)


def test_removals_of_the_last_minutes_count_together(
    folders: Folders, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that were accepted do not count, nor do those of longer ago."""

    def remove(first: int, end: int) -> Counter[ChangeOutcome]:
        for number in range(first, end):
            shutil.rmtree(folders.path / f"s{number}")
        return folders.scan().outcomes

    for number in range(29):
        skill(folders.path / f"s{number}")
    folders.scan()
    assert remove(0, 15)["removed"] == 15
    set_clock(monkeypatch, timedelta(minutes=9))
    assert remove(15, 21)["held"] == 6
    folders.scan(accepts_removals=True)
    assert remove(21, 22)["removed"] == 1
    set_clock(monkeypatch, timedelta(minutes=20))
    for number in range(22, 40):
        skill(folders.path / f"s{number}")
    folders.scan()
    assert remove(22, 40)["removed"] == 18


def set_clock(monkeypatch: pytest.MonkeyPatch, step: timedelta) -> None:
    """Set the clock forward, or back."""

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + step

    for module in (sync_removals, change_batches):
        monkeypatch.setattr(module, "datetime", Clock)
