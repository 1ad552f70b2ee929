"""Folders that keep changing, and disks that fill up."""

import os
import shutil
from collections import namedtuple
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from catalog.filesystem.ownership import MARKER
from catalog.model.change import ChangeResult, Removal
from catalog.model.errors import OutOfRoom
from catalog.model.setting import Retention
from catalog.writing.store import Store
from pipeline.service import reconcile
from pipeline.service.scanning.engines import serial
from tests.support.packages import World, later
from tests.support.records import NOON, judged, rooted
from tests.support.serving import Serving
from tests.support.skills import SkillWriter

MINUTE = timedelta(minutes=1)


@pytest.fixture
def store() -> Iterator[Store]:
    """Return a catalog in memory, in which a skill may have three versions in an hour."""
    made = rooted(Store.in_memory())
    made.packager.retention = Retention(versions_per_hour=3)
    yield made
    made.close()


def store_content(store: Store, word: str, minutes: float) -> ChangeResult:
    """Store content of the skill `a`, some minutes after noon."""
    (applied,) = store.apply([judged("a", f"{word}.")], trigger="event", at=NOON + minutes * MINUTE)
    return applied


def row(store: Store, columns: str) -> tuple[Any, ...]:
    """Return columns of the skill's row."""
    values: tuple[Any, ...] = store.db.execute(f"SELECT {columns} FROM skills").fetchone()
    return values


def test_versions_above_the_rate_are_coalesced(store: Store) -> None:
    """The newest is stored once the rate allows it; those between are counted."""
    for minute, word in enumerate(("One", "Two", "Three")):
        store_content(store, word, minute)
    store_content(store, "Four", 3)
    assert "an hour; 1 newer state was not stored" in row(store, "pending_reason")[0]
    for minute, word in ((3, "Four"), (4, "Five"), (5, "Five"), (6, "Six")):
        applied = store_content(store, word, minute)
        assert (applied.outcome, applied.wait) == ("delayed", (60 - minute) * 60)
    assert row(store, "description, coalesced") == ("Three.", 3)
    assert "changes too often: 3 versions in an hour; 3 newer" in row(store, "pending_reason")[0]
    assert store_content(store, "Six", 60).outcome == "updated"
    assert row(store, "description, coalesced, pending_since") == ("Six.", 0, None)
    assert store.db.execute("SELECT count(*) FROM versions").fetchone() == (4,)
    assert store.db.execute("SELECT detail FROM ingestions ORDER BY id DESC").fetchone() == (
        "2 states before it followed too quickly to be stored",
    )


def test_a_skill_that_returns_to_its_version_waits_for_nothing(store: Store) -> None:
    """The published content is again that of the folder."""
    for minute, word in enumerate(("One", "Two", "Three")):
        store_content(store, word, minute)
    assert store_content(store, "Four", 3).outcome == "delayed"
    store_content(store, "Three", 4)
    assert row(store, "description, coalesced, pending_since") == ("Three.", 0, None)
    assert store.db.execute("SELECT count(*) FROM versions").fetchone() == (3,)


def test_a_folder_that_is_made_again_too_often_is_pending(store: Store) -> None:
    """It does not count as removed while it waits."""
    for minute, word in enumerate(("One", "Two", "Three")):
        store_content(store, word, minute)
    store.apply([Removal("/root", "a")], trigger="event", at=NOON + 3 * MINUTE)
    assert row(store, "status") == ("removed",)
    assert store_content(store, "Four", 4).outcome == "delayed"
    status, reason, pending = row(store, "status, status_reason, pending_reason")
    assert (status, reason) == ("pending", pending)
    assert store_content(store, "Four", 64).outcome == "added"
    assert row(store, "status, status_reason, pending_reason") == ("active", None, None)


def test_the_service_stores_the_newest_when_the_rate_allows(
    tmp_path: Path, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No further event is needed; until then the folder is pending, which is no difference."""
    monkeypatch.setattr("catalog.writing.rows.batch.HOUR", timedelta(seconds=4))
    it = Serving(tmp_path, retention=Retention(versions_per_hour=2)).start()
    try:
        for word in ("One", "Two", "Three"):
            skill(it.root / "a", description=f"{word}.")
            rows = it.wait_for(
                lambda word=word: it.rows(
                    "SELECT description, coalesced FROM skills"
                    " WHERE path = 'a' AND (description = ? OR coalesced = 1)",
                    f"{word}.",
                )
            )
        assert rows == [("Two.", 1)]
        assert reconcile.compare(it.settings, engine=serial).differences == ()
        it.wait_for(lambda: it.rows("SELECT 1 FROM skills WHERE description = 'Three.'"))
    finally:
        it.stop()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """Return a catalog with packages, and no skill yet."""
    made = World(tmp_path)
    yield made
    made.store.close()


def test_packages_do_not_exceed_their_total(world: World, skill: SkillWriter) -> None:
    """Above it nothing is published, no unfinished package remains, and removals free space."""
    world.store.packager.retention = Retention(packages_bytes=350_000)
    for name in "ab":
        skill(world.root / name, files={"data.bin": os.urandom(100_000)})
        world.scan()
    skill(world.root / "c", files={"data.bin": os.urandom(200_000)})
    with pytest.raises(OutOfRoom, match=r"packages_bytes allows 341\.8 KiB"):
        world.scan()
    assert sorted(directory.name for directory in world.packages.iterdir()) == [MARKER, "a", "b"]
    skill(world.root / "a", description="Each version counts in full.")
    world.look("a")
    (world.root / "b/SKILL.md").unlink()
    world.look("b")
    with pytest.raises(OutOfRoom):
        world.scan()
    assert world.store.collect(Retention(grace=0, version_days=0), later(60 * 24 * 400)) == 2
    world.scan()
    assert world.current("c").is_dir()


@contextmanager
def disk_with(free: int) -> Iterator[None]:
    """Let every disk have some bytes free."""
    disk = namedtuple("disk", "f_bavail f_frsize f_fsid")  # as os.statvfs returns it
    fsid = os.statvfs("/").f_fsid
    with pytest.MonkeyPatch.context() as full:
        full.setattr("os.statvfs", lambda _: disk(free // 512, 512, fsid))
        yield


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a service soon try again."""
    monkeypatch.setattr("pipeline.service.scans.ROOM_PAUSE", 0.2)
    monkeypatch.setattr("pipeline.service.heartbeat.FIRST_PAUSE", 0.2)
    monkeypatch.setattr("pipeline.service.heartbeat.LONGEST_PAUSE", 0.4)


def test_some_room_on_the_disk_stays_free(world: World, skill: SkillWriter) -> None:
    """Publishing pauses before the disk is full, and resumes by itself."""
    world.store.packager.retention = Retention(free_bytes=512 * 2**20)
    skill(world.root / "a")
    with disk_with(512 * 2**20):
        with pytest.raises(OutOfRoom, match=r"has 512.0 MiB free.*Free some space"):
            world.scan()
        assert world.rows("SELECT count(*) FROM skills") == [(0,)]
    world.scan()
    assert world.current("a").is_dir()


@pytest.mark.usefixtures("short_pauses")
def test_the_service_pauses_and_goes_on(
    tmp_path: Path, skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """It publishes once the disk has room, without another event."""
    it = Serving(tmp_path).start()
    try:
        it.settle()
        with disk_with(0):
            skill(it.root / "a")
            it.wait_for(lambda: "Nothing is published" in caplog.text)
            assert "active" not in it.statuses().values()
        it.wait_for(lambda: it.statuses() == {"a": "active"})
    finally:
        it.stop()


def test_skills_are_removed_even_without_room(world: World, skill: SkillWriter) -> None:
    """A skill that is too large does not block the removal of another."""
    world.store.packager.retention = Retention(packages_bytes=50_000)
    skill(world.root / "a")
    world.scan()
    skill(world.root / "b", files={"data.bin": os.urandom(100_000)})
    shutil.rmtree(world.root / "a")
    with pytest.raises(OutOfRoom):
        world.scan()
    assert world.rows("SELECT path, status FROM skills") == [("a", "removed")]


@pytest.mark.usefixtures("short_pauses")
def test_the_service_recovers_from_a_start_without_room(
    tmp_path: Path, skill: SkillWriter, caplog: pytest.LogCaptureFixture
) -> None:
    """A missing package is rebuilt once the disk has room; until then health reports it."""
    it = Serving(tmp_path).start()
    try:
        skill(it.root / "a")
        it.settle()
        it.stop()
        directory = it.settings.packages_folder / "a"
        directory.rename(tmp_path / "lost")
        (it.settings.skills_folder / "a").rename(tmp_path / "copy")  # it would be restored from it
        with disk_with(0):
            it.start()
            it.wait_for(lambda: it.rows("SELECT 1 FROM troubles WHERE part = 'scan'"))
            it.wait_for(lambda: "Nothing is published" in caplog.text)
        it.wait_for(lambda: (directory / "current/SKILL.md").is_file())
    finally:
        it.stop()


@pytest.mark.usefixtures("short_pauses")
def test_a_skill_that_is_too_large_does_not_delay_others(
    tmp_path: Path, skill: SkillWriter
) -> None:
    """Only that skill waits for room, and health reports it."""
    it = Serving(tmp_path, retention=Retention(packages_bytes=50_000)).start()
    try:
        it.settle()
        skill(it.root / "large", files={"data.bin": bytes(100_000)})
        it.wait_for(lambda: it.rows("SELECT 1 FROM troubles WHERE part = 'changes'"))
        skill(it.root / "small")
        it.wait_for(lambda: it.statuses() == {"small": "active"})
        it.wait_for(
            lambda: it.rows("SELECT 1 FROM troubles WHERE message LIKE 'Nothing is published: %'")
        )
        (it.root / "large/data.bin").write_bytes(bytes(100))
        it.wait_for(lambda: it.statuses() == {"small": "active", "large": "active"})
        it.wait_for(lambda: it.rows("SELECT * FROM troubles") == [])
    finally:
        it.stop()
