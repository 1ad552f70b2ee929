"""The service in a thread, with real events of a real directory, through trouble and out again."""

import errno
import os
import shutil
import socket
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from watchdog.observers.inotify_c import InotifyFD

from catalog.database.lock import WriterLock
from catalog.filesystem.ownership import MARKER
from catalog.model.errors import CatalogBusy
from pipeline.service import loop, troubles
from pipeline.sync.engines import processes
from pipeline.sync.engines.scanner import ScanOptions, ScanResult, ScanScope
from pipeline.sync.reconcile import compare
from pipeline.sync.request_handlers import handle
from pipeline.watch import supervisor
from tests.support.serving import Serving
from tests.support.skills import SkillWriter


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Callable[..., Serving]]:
    """Return what makes a service with the settings given; it is stopped in the end."""
    made: list[Serving] = []

    def make(**settings: Any) -> Serving:
        made.append(Serving(tmp_path, **settings))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def write_many(skill: SkillWriter, folder: Path, count: int) -> None:
    """Write so many skills, each with a name of its own."""
    for number in range(count):
        skill(folder / f"s{number:02}", description=f"Does thing number {number}.")


# Following


def test_what_is_looked_at_during_a_scan_is_not_undone_by_it(
    serving: Callable[..., Serving], skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan that read a folder before it changed cannot publish the old content any more."""
    it = serving()
    skill(it.root / "a", description="Old.")

    def slow(part: ScanScope, how: ScanOptions) -> Iterator[ScanResult | None]:
        seen = list(processes.serial(part, how))
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
    """More than half of a root moves at once, and neither vanishes nor arrives."""
    it = serving().start()
    write_many(skill, it.root / "team", 30)
    it.settle()
    ids = it.rows("SELECT id FROM skills WHERE path LIKE 'team/%' ORDER BY path")
    (it.root / "team").rename(it.root / "crew")
    it.settle()
    assert it.rows("SELECT id FROM skills WHERE path LIKE 'crew/%' ORDER BY path") == ids
    assert set(it.statuses().values()) == {"active"}
    assert it.rows("SELECT count(*) FROM skills WHERE pending_since IS NOT NULL") == [(0,)]


def test_once_quiet_the_file_alone_holds_all_there_is(
    serving: Callable[..., Serving], skill: SkillWriter, tmp_path: Path
) -> None:
    """SQLite's log is written back while nobody waits, not in the middle of a later change."""
    it = serving().start()
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
    """The first change is published at once; what follows it within the delay, together."""
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


def test_where_the_system_will_not_watch_polling_follows_until_it_will(
    serving: Callable[..., Serving], skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Health says which, and why; a change that polling finds is not one that was missed."""

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "inotify watch limit reached")

    monkeypatch.setattr(supervisor, "RETRY", 0.1)
    with monkeypatch.context() as limited:
        limited.setattr(InotifyFD, "add_callback", refuse)
        it = serving().start()
        skill(it.root / "a")
        it.wait_for(lambda: it.statuses() == {"a": "active"})
        assert it.health()["watcher_mode"] == "polling"
        assert "inotify watch limit reached" in it.health()["watcher_reason"]
    it.wait_for(lambda: it.health()["watcher_mode"] == "native")
    skill(it.root / "b")
    it.settle()
    assert it.statuses() == {"a": "active", "b": "active"}
    assert it.health()["missed_by_events"] == 0


def test_more_directories_than_may_be_watched_means_polling(
    serving: Callable[..., Serving], skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit is reached in the middle of the tree, where watchdog passes over it in silence."""
    watch = InotifyFD.add_callback

    def refuse_from_the_fifth(self: Any, *rest: Any) -> Any:
        if self.watched >= 5:
            raise OSError(errno.ENOSPC, "inotify watch limit reached")
        return watch(self, *rest)

    monkeypatch.setattr(InotifyFD, "add_callback", refuse_from_the_fifth)
    it = serving().start()
    write_many(skill, it.root, 10)
    it.wait_for(lambda: it.health()["watcher_mode"] == "polling")
    assert "more directories" in it.health()["watcher_reason"]
    skill(it.root / "s09", description="Changed.")
    it.wait_for(lambda: it.rows("SELECT 1 FROM skills WHERE description = 'Changed.'"))
    assert len(it.statuses()) == 10


def test_writes_that_fail_are_made_again(
    serving: Callable[..., Serving],
    skill: SkillWriter,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A catalog that another process locks for long delays the service and loses nothing."""
    monkeypatch.setattr(troubles, "FIRST_PAUSE", 0.1)
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
    assert "a/current/SKILL.md" in it.index()


def test_what_happens_while_the_root_is_away_is_found_when_it_is_back(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """No event tells of it, and nothing of a root that is away is removed."""
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


def test_a_root_that_is_deleted_and_made_again_is_listened_to_again(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """The new directory has another inode, or the old one's, and both are noticed."""
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


def test_a_catalog_that_is_deleted_is_made_anew(
    serving: Callable[..., Serving], skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """Else all that is stored would go into a file that nobody can open."""
    it = serving().start()
    skill(it.root / "a")
    it.settle()
    shutil.rmtree(it.settings.data)
    it.wait_for(lambda: it.statuses() == {"a": "active"})
    skill(it.root / "b")
    it.settle()
    assert it.statuses() == {"a": "active", "b": "active"}
    assert "b/current/SKILL.md" in it.index()
    assert "was deleted or replaced" in caplog.text


def test_damage_to_packages_is_mended_in_the_background(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """A part of them is hashed after each re-scan, whatever their size and time say."""
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
    assert it.health()["packages_mended"] == 1


def test_a_catalog_that_is_deleted_alone_leaves_no_packages_behind(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """Agents read the old ones until the new catalog knows the roots; then they go."""
    it = serving().start()
    for word in ("One", "Two"):
        skill(it.root / "a", description=f"{word}.")
        it.settle()
    for file in it.settings.data.glob("catalog.db*"):
        if file.suffix != ".lock":
            file.unlink()
    it.wait_for(lambda: it.statuses() == {"a": "active"})
    it.settle()
    assert compare(it.settings).differences == ()
    assert len(list((it.settings.packages_folder / "a").iterdir())) == 2  # one, and `current`


def test_a_service_that_lost_its_lock_gives_way(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """Two writers of one catalog would each undo the other's work."""
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
    """It looks as a share does whose disk is gone; when the folders are back, all is as before."""
    it = serving(settle_quiet=UNHURRIED).start()
    write_many(skill, it.root, 30)
    it.settle()
    index = it.index().replace("Tick 1.", "Tick 2.")  # but for the sentinel
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


def test_a_slow_deletion_does_not_slip_under_the_brake(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """Events tell of it in many rounds, none of which is large; they are one vanishing."""
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
    """What was removed a moment ago counts, too."""
    it = serving().start()
    write_many(skill, it.root, 29)
    it.settle()
    for name in [f"s{number:02}" for number in range(15)]:
        shutil.rmtree(it.root / name)
    it.settle()
    assert list(it.statuses().values()).count("removed") == 15
    for name in [f"s{number:02}" for number in range(15, 20)]:
        shutil.rmtree(it.root / name)
    it.settle()
    assert list(it.statuses().values()).count("removed") == 15
    assert it.rows("SELECT count(*) FROM skills WHERE is_held") == [(5,)]


def test_fewer_vanish_without_ado(serving: Callable[..., Serving], skill: SkillWriter) -> None:
    """Nineteen skills are gone at once, though they are all there were."""
    it = serving().start()
    write_many(skill, it.root, 19)
    it.settle()
    for folder in it.root.glob("s*[0-9]"):
        shutil.rmtree(folder)
    it.settle()
    assert set(it.statuses().values()) == {"removed"}


def test_what_vanished_while_nothing_ran_is_held_at_the_start(
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


def test_an_outcome_that_a_runtime_drops_comes_into_the_catalog(
    serving: Callable[..., Serving],
) -> None:
    """One dropped while the service runs by its event, one from before by the scan at the start.

    A folder that somebody else has made is handed over by an empty marker.
    """
    service = serving()
    folder = service.settings.outcomes_folder / "meetings"
    folder.mkdir(parents=True)
    (folder.parent / MARKER).touch()
    (folder / "before.json").write_text('{"status": "success"}')
    service.start()
    (folder / "after.json").write_text('{"status": "failed"}')
    service.wait_for(
        lambda: (
            service.rows("SELECT run_id FROM outcomes ORDER BY run_id") == [("after",), ("before",)]
        )
    )


def test_systemd_is_told_that_the_service_is_ready_and_works(
    serving: Callable[..., Serving], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the socket that it names."""
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


def test_a_held_version_that_is_found_damaged_leaves_the_indexes_at_once(
    serving: Callable[..., Serving], skill: SkillWriter
) -> None:
    """Not only with the next change: an index names nothing that cannot be read."""
    it = serving()
    skill(it.root / "a", files={"x.txt": "one"})
    it.start()
    it.settle()
    ((first,),) = it.rows("SELECT version FROM versions WHERE skill_id = 'a'")
    skill(it.root / "a", files={"x.txt": "two"})
    it.settle()
    handle(it.settings, "rollback", {"skill": "a", "version": first})
    index = it.settings.index_folder / "default.xml"
    assert "/a/current/" in index.read_text()
    file = it.settings.packages_folder / "a" / first / "x.txt"
    file.chmod(0o644)
    file.write_text("bad")
    for _ in it.rows("SELECT id FROM versions"):  # of which each time one is due
        newest = it.rows("SELECT max(verified_at) FROM versions")
        it.rescan()
        it.wait_for(
            lambda newest=newest: it.rows("SELECT max(verified_at) FROM versions") != newest
        )
        if it.health()["packages_mended"]:
            break
    it.wait_for(lambda: "/a/current/" not in index.read_text())
    assert it.statuses() == {"a": "shadowed"}
