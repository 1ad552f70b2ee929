"""Disks that fill up."""

import os
import shutil
from collections import namedtuple
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from catalog.filesystem.ownership import MARKER
from catalog.model.errors import OutOfRoom
from catalog.model.setting import Retention
from tests.support.packages import World, later
from tests.support.serving import Serving
from tests.support.skills import SkillWriter


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
