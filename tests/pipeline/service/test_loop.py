"""Service in a thread, with real events of a real directory, during problems and after them."""

import errno
import os
import shutil
import socket
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from watchdog.observers.inotify_c import InotifyFD

from catalog.database.lock import WriterLock
from catalog.filesystem.ownership import MARKER
from catalog.model.errors import CatalogBusy
from pipeline.service import heartbeat, loop
from pipeline.service.reconcile import compare
from pipeline.service.requests import handle
from pipeline.service.scanning import engines
from pipeline.service.scanning.scanner import ScanOptions, ScanResult, ScanScope
from pipeline.watch import supervisor
from tests.support.indexes import location_of
from tests.support.serving import Serving
from tests.support.skills import SkillWriter


def write_many(skill: SkillWriter, folder: Path, count: int) -> None:
    """Write a number of skills with different names."""
    for number in range(count):
        skill(folder / f"s{number:02}", description=f"Does thing number {number}.")


# Following


def test_a_scan_does_not_undo_newer_changes(
    serving: Callable[..., Serving], skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan that read a folder before it changed cannot publish the old content."""
    it = serving()
    skill(it.root / "a", description="Old.")

    def slow(part: ScanScope, how: ScanOptions) -> Iterator[ScanResult | None]:
        seen = list(engines.serial(part, how))
        if not it.rows("SELECT 1 FROM skills"):
            skill(it.root / "a", description="New.")
            while not it.rows("SELECT 1 FROM skills WHERE description = 'New.'"):
                yield None
        yield from seen

    it.settings = it.settings.model_copy(update={"settle_quiet": 0.05})
    time.sleep(0.06)  # the first look must find the folder at rest
    monkeypatch.setattr(loop, "processes", slow)
    it.start()
    it.settle()
    assert it.rows("SELECT description FROM skills WHERE path = 'a'") == [("New.",)]
    outcomes = it.rows("SELECT outcome FROM ingestions WHERE path = 'a' ORDER BY id")
    assert outcomes == [("added",)]


def test_a_renamed_parent_keeps_the_rows_of_its_skills(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """More than half of a root moves at once, and nothing is removed or added."""
    it = serving().start()
    write_many(skill, it.root / "team", 30)
    it.settle()
    ids = it.rows("SELECT id FROM skills WHERE path LIKE 'team/%' ORDER BY path")
    (it.root / "team").rename(it.root / "crew")
    it.settle()
    assert it.rows("SELECT id FROM skills WHERE path LIKE 'crew/%' ORDER BY path") == ids
    assert set(it.statuses().values()) == {"active"}
    assert it.rows("SELECT count(*) FROM skills WHERE pending_since IS NOT NULL") == [(0,)]


def test_a_quiet_service_has_written_everything_to_the_catalog_file(
    serving: Callable[..., Serving], skill: SkillWriter, tmp_path: Path
) -> None:
    """SQLite's log is written back while nothing waits, as soon as no reader needs it."""
    it = serving().start()
    it.settle()
    with closing(sqlite3.connect(it.settings.catalog_path)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT 1 FROM skills").fetchall()
        skill(it.root / "a")
        it.settle()

    def in_the_file() -> bool:
        shutil.copy(it.settings.catalog_path, tmp_path / "copy.db")
        with closing(sqlite3.connect(tmp_path / "copy.db")) as db:
            try:
                return bool(db.execute("SELECT 1 FROM skills WHERE path = 'a'").fetchone())
            except sqlite3.DatabaseError:  # copied while it was written
                return False

    it.wait_for(in_the_file)


# Trouble


def test_a_burst_of_changes_gives_one_rebuild(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """The first change is published at once, and the later ones together after the delay."""
    it = serving(settle_quiet=0.02, index_delay=1.0).start()
    it.settle()
    before = len(it.rows("SELECT 1 FROM index_builds"))
    began = time.monotonic()
    for number in range(8):
        skill(it.root / f"s{number}", description=f"Does thing number {number}.")
        it.wait_for(lambda n=number: it.rows("SELECT 1 FROM skills WHERE path = ?", f"s{n}"))
    it.wait_for(lambda: len(it.rows("SELECT 1 FROM index_entries")) == 9)
    rebuilds = len(it.rows("SELECT 1 FROM index_builds")) - before
    assert rebuilds <= 2 + (time.monotonic() - began) / 1.0


def test_without_system_events_the_service_polls_until_they_work_again(
    serving: Callable[..., Serving], skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Health has mode and reason; a change found by polling does not count as missed."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    monkeypatch.setattr(supervisor, "RETRY", 0.1)
    with monkeypatch.context() as limited:
        limited.setattr(InotifyFD, "add_callback", refuse)
        it = serving().start()
        skill(it.root / "a")
        it.wait_for(lambda: it.statuses() == {"a": "active"})
        assert it.health()["watcher_mode"] == "polling"
        assert "more directories" in it.health()["watcher_reason"]
    it.wait_for(lambda: it.health()["watcher_mode"] == "native")
    it.rescan()  # for changes of before: on a busy machine it could be faster than an event
    skill(it.root / "b")
    it.settle()
    assert it.statuses() == {"a": "active", "b": "active"}
    assert it.health()["missed_by_events"] == 0


def test_more_directories_than_may_be_watched_means_polling(
    serving: Callable[..., Serving], skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is reached inside the tree, where watchdog skips directories silently."""
    watch, watches = InotifyFD.add_callback, Counter[InotifyFD]()

    def refuse_from_the_sixth(self: InotifyFD, path: bytes, *rest: Any) -> Any:
        if watches[self] >= 5 and b"/root/s" in path:  # the roots themselves are watched
            raise OSError(errno.ENOSPC, "inotify watch limit reached")
        watches[self] += 1
        return watch(self, path, *rest)

    monkeypatch.setattr(InotifyFD, "add_callback", refuse_from_the_sixth)
    it = serving().start()
    write_many(skill, it.root, 10)
    it.settle()
    it.rescan()
    it.wait_for(lambda: it.health()["watcher_mode"] == "polling")
    assert "more directories" in it.health()["watcher_reason"]
    skill(it.root / "s09", description="Changed.")
    it.wait_for(lambda: it.rows("SELECT 1 FROM skills WHERE description = 'Changed.'"))
    assert len(it.statuses()) == 10


def test_failed_writes_are_repeated(
    serving: Callable[..., Serving],
    skill: SkillWriter,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A catalog locked by another process delays the service, and loses nothing."""
    monkeypatch.setattr(heartbeat, "FIRST_PAUSE", 0.1)
    it = serving().start()
    it.settle()
    blocker = sqlite3.connect(it.settings.catalog_path, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    skill(it.root / "a")
    it.wait_for(lambda: "database is locked" in caplog.text)
    blocker.execute("ROLLBACK")
    blocker.close()
    it.settle()
    assert it.statuses() == {"a": "active"}
    assert location_of(it.index(), "a")


def test_changes_in_a_missing_root_are_found_once_it_is_back(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """They cause no events; while the root is missing, nothing is removed."""
    it = serving().start()
    for name in ("kept", "edited", "deleted"):
        skill(it.root / name)
    it.settle()
    away = it.root.rename(it.root.with_name("away"))
    it.wait_for(lambda: it.health()["held_removals"] == 4)
    assert set(it.statuses().values()) == {"active"}
    assert it.rows("SELECT count(*) FROM ingestions WHERE outcome = 'held'") == [(4,)]
    skill(away / "edited", description="Edited while away.")
    shutil.rmtree(away / "deleted")
    skill(away / "added")
    away.rename(it.root)
    it.settle()
    it.wait_for(lambda: it.health()["held_removals"] == 1)
    assert it.statuses() == dict.fromkeys(["kept", "edited", "deleted", "added"], "active")
    assert it.rows("SELECT description FROM skills WHERE path = 'edited'") == [
        ("Edited while away.",)
    ]
    assert it.rows("SELECT path FROM skills WHERE is_held") == [("deleted",)]


def test_a_root_that_is_deleted_and_created_again_is_watched_again(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """Even if the new directory has the old inode."""
    it = serving().start()
    skill(it.root / "a")
    it.settle()
    for number in range(3):
        shutil.rmtree(it.root)
        it.root.mkdir()
        skill(it.root / "a", description=f"Version {number}.")
        it.wait_for(
            lambda n=number: it.rows(
                "SELECT 1 FROM skills WHERE path = 'a' AND description = ?", f"Version {n}."
            )
        )
    it.settle()
    assert it.health()["watcher_mode"] == "native"


def test_a_deleted_catalog_is_rebuilt(
    serving: Callable[..., Serving], skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """Otherwise changes would be stored in a file that no other program can open."""
    it = serving().start()
    skill(it.root / "a")
    it.settle()
    gone = it.settings.data.rename(it.settings.data.with_name("gone"))  # all of it at once
    shutil.rmtree(gone)
    it.wait_for(lambda: it.statuses() == {"a": "active"})
    skill(it.root / "b")
    it.settle()
    assert it.statuses() == {"a": "active", "b": "active"}
    assert location_of(it.index(), "b")
    assert "was deleted or replaced" in caplog.text


def test_a_rebuilt_catalog_owns_what_the_service_made_after_the_deletion(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """A copy may be placed at that moment, and its folder has the former identity."""
    it = serving().start()
    skill(it.root / "a")
    it.settle()
    skills = it.settings.data / "skills"
    marker = (skills / ".skilldrop").read_text()
    gone = it.settings.data.rename(it.settings.data.with_name("gone"))
    skills.mkdir(parents=True, exist_ok=True)
    (skills / ".skilldrop").write_text(marker)
    shutil.rmtree(gone)
    it.wait_for(lambda: it.statuses() == {"a": "active"})
    it.settle()
    assert (skills / "a/SKILL.md").exists()
    assert (skills / ".skilldrop").read_text() == marker


def test_damaged_packages_are_repaired_in_the_background(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """After each re-scan some are hashed, whatever their sizes and times."""
    it = serving().start()
    skill(it.root / "a", files={"x.txt": "same"})
    it.settle()
    file = (it.settings.packages_folder / "a/current").resolve() / "x.txt"
    file.chmod(0o644)
    file.write_text("SAME")
    file.chmod(0o444)
    for _ in range(2):  # there are two packages, of which each time one is due
        newest = it.rows("SELECT max(verified_at) FROM versions")
        it.rescan()
        it.wait_for(
            lambda newest=newest: it.rows("SELECT max(verified_at) FROM versions") != newest
        )
    assert file.read_text() == "same"
    assert it.health()["packages_repaired"] == 1


def test_rebuilding_a_catalog_leaves_only_packages_of_versions(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """Older versions keep theirs; a skill without a folder has none once the roots are read."""
    it = serving().start()
    for word in ("One", "Two"):
        skill(it.root / "a", description=f"{word}.")
        it.settle()
    skill(it.root / "b")
    it.settle()
    shutil.rmtree(it.root / "b")
    it.settle()
    for file in it.settings.data.glob("catalog.db*"):
        if file.suffix != ".lock":
            file.unlink()
    it.wait_for(lambda: it.statuses() == {"a": "active"})
    it.settle()
    assert compare(it.settings).differences == ()
    assert len(list((it.settings.packages_folder / "a").iterdir())) == 3  # two, and `current`
    assert not (it.settings.packages_folder / "b").exists()


def test_a_service_that_lost_its_lock_ends(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """Two writers of one catalog would undo each other's work."""
    it = serving().start()
    it.settle()
    path = it.settings.catalog_path.with_name("catalog.db.lock")
    path.unlink()
    other = WriterLock(path)
    with pytest.raises(CatalogBusy, match=f"process {os.getpid()}"):
        it.wait_for(lambda: False)
    other.close()
    it.failure = None


# The removal guard

UNHURRIED = 1.0
"""Quiet seconds that keep one disappearance together, even on a machine that stalls."""


def move(folders: Iterable[Path], target: Path) -> None:
    """Move folders into another, one by one."""
    for folder in folders:
        folder.rename(target / folder.name)


def test_a_root_that_is_suddenly_empty_loses_nothing(
    serving: Callable[..., Serving], skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """As after the failure of a disk: once the folders are back, everything is as before."""
    it = serving(settle_quiet=UNHURRIED).start()
    write_many(skill, it.root, 30)
    it.settle()
    index = it.index().replace("Tick 1.", "Tick 2.")  # except the sentinel
    away = it.root.parent / "away"
    away.mkdir()
    move(it.root.iterdir(), away)
    it.wait_for(lambda: it.health()["held_removals"] >= 30)
    assert it.index() == index.replace("Tick 2.", "Tick 1.")
    messages = [text for text in caplog.messages if "is held until the folders are back" in text]
    assert messages
    assert len(messages) == len(set(messages))  # a message is repeated only with a new number
    move(sorted(away.iterdir())[:7], it.root)
    it.wait_for(lambda: it.health()["held_removals"] == 31 - 7)  # with the sentinel
    move(away.iterdir(), it.root)
    it.settle()
    it.wait_for(lambda: it.health()["held_removals"] == 0)
    assert set(it.statuses().values()) == {"active"}
    assert it.rows("SELECT count(*) FROM skills WHERE pending_since IS NOT NULL") == [(0,)]
    assert it.index() == index


def test_a_slow_deletion_is_held_too(serving: Callable[..., Serving], skill: SkillWriter) -> None:
    """Its events arrive in many small groups, which count as one disappearance."""
    it = serving(settle_quiet=UNHURRIED).start()
    write_many(skill, it.root, 60)
    it.settle()
    for folder in sorted(it.root.glob("s*")):
        if folder.name != "sentinel":
            shutil.rmtree(folder)
            time.sleep(0.02)  # time for the events to arrive one by one
    it.wait_for(lambda: it.health()["held_removals"] == 60)
    assert set(it.statuses().values()) == {"active"}


def test_deletions_with_pauses_are_added_up(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """Recent removals count, too."""
    it = serving().start()
    write_many(skill, it.root, 24)
    for number in range(5):
        skill(it.root / f"last/t{number}")
    it.settle()
    for name in [f"s{number:02}" for number in range(15)]:
        shutil.rmtree(it.root / name)
    it.settle()
    assert list(it.statuses().values()).count("removed") == 15
    (it.root / "last").rename(it.root.parent / "away")  # all five at once, on a busy machine, too
    it.settle()
    assert list(it.statuses().values()).count("removed") == 15
    assert it.rows("SELECT count(*) FROM skills WHERE is_held") == [(5,)]


def test_fewer_than_twenty_removals_are_not_held(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """Nineteen skills disappear at once, though the root had no others."""
    it = serving().start()
    write_many(skill, it.root, 19)
    it.settle()
    for folder in it.root.glob("s*[0-9]"):
        shutil.rmtree(folder)
    it.settle()
    assert set(it.statuses().values()) == {"removed"}


def test_skills_that_disappeared_before_the_start_are_held(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """The share may not be mounted yet."""
    it = serving().start()
    write_many(skill, it.root, 25)
    it.settle()
    it.stop()
    shutil.rmtree(it.root)
    it.root.mkdir()
    it.start()
    it.wait_for(lambda: it.health()["held_removals"] >= 25)
    assert set(it.statuses().values()) == {"active"}


@pytest.mark.requirement("own/outcome-dropped")
def test_dropped_outcomes_are_stored(
    serving: Callable[..., Serving],
) -> None:
    """One is announced by an event, an older one is found by the scan at the start.

    A folder that somebody else has made is handed over by an empty marker.
    """
    service = serving()
    folder = service.settings.outcomes_folder / "meetings"
    folder.mkdir(parents=True)
    (folder.parent / MARKER).touch()
    (folder / "before.json").write_text('{"output": 1, "status": "success"}')
    service.start()
    (folder / "after.json").write_text('{"output": 1, "status": "failed"}')
    service.wait_for(
        lambda: (
            service.rows("SELECT run_id FROM outcomes ORDER BY run_id") == [("after",), ("before",)]
        )
    )


def test_systemd_is_notified(
    serving: Callable[..., Serving], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The service is ready, and later still works."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.settimeout(30)
        systemd.bind(str(tmp_path / "notify"))
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        service = serving().start()
        assert systemd.recv(100) == b"READY=1"
        assert systemd.recv(100) == b"WATCHDOG=1"
        service.stop()
        said = b""
        while said != b"STOPPING=1":
            said = systemd.recv(100)


def test_a_damaged_version_of_a_held_skill_leaves_the_indexes_at_once(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """An index names only readable packages, even before the next change."""
    it = serving()
    skill(it.root / "a", files={"x.txt": "one"})
    it.start()
    it.settle()
    ((first,),) = it.rows("SELECT version FROM versions WHERE skill_id = 'a'")
    skill(it.root / "a", files={"x.txt": "two"})
    it.settle()
    handle(it.settings, "pin", {"skill": "a", "version": first})
    index = it.settings.index_folder / "default.txt"
    assert location_of(index.read_text(), "a")
    copy = it.settings.skills_folder / "a"
    it.wait_for(lambda: (copy / "x.txt").read_text() == "one")
    for folder in (it.settings.packages_folder / "a" / first, copy):
        (folder / "x.txt").chmod(0o644)
        (folder / "x.txt").write_text("bad")
    for _ in it.rows("SELECT id FROM versions"):  # of which each time one is due
        newest = it.rows("SELECT max(verified_at) FROM versions")
        it.rescan()
        it.wait_for(
            lambda newest=newest: (
                it.rows("SELECT max(verified_at) FROM versions") != newest
                or it.health()["packages_repaired"]
            )  # a package that was removed is not verified
        )
        if it.health()["packages_repaired"]:
            break
    it.wait_for(lambda: not location_of(index.read_text(), "a"))
    assert it.statuses() == {"a": "shadowed"}
