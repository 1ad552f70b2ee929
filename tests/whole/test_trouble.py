"""Problems between the system and the watcher, forced on the program."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pipeline.service import reconcile
from pipeline.service.scanning.engines import serial
from tests.support import disks
from tests.support.serving import ServingProcess
from tests.support.skills import SkillWriter, write_skill
from tests.support.waiting import overflow

FOLDERS = int(os.environ.get("FOLDERS", "500"))
"""How many are unpacked at once; `make crashes` says 5,000."""
MEMORY = 400 * 1024
"""KiB that the program may take while they arrive."""


@pytest.fixture
def up(tmp_path: Path) -> Iterator[ServingProcess]:
    """Return the program, not started yet; it is ended after the test."""
    made = ServingProcess(tmp_path, rescan_every=3600.0)
    yield made
    made.kill()


def assert_promise(up: ServingProcess) -> None:
    """Assert that folder, catalog and index agree."""
    assert reconcile.compare(up.settings, engine=serial).differences == ()


def test_an_overflow_of_the_event_queue_loses_no_change(
    up: ServingProcess, skill: SkillWriter
) -> None:
    """The suspended program reads no events until the queue is full."""
    up.start()
    skill(up.root / "a")
    up.settle()
    up.suspend()
    overflow(up.root)
    skill(up.root / "lost", description="Arrived when nobody could hear.")
    skill(up.root / "a", description="Changed when nobody could hear.")
    up.resume()
    up.wait_for(lambda: up.health()["overflows"] == 1)
    up.settle()
    assert up.statuses() == {"a": "active", "lost": "active"}
    assert up.health()["watcher_mode"] == "native"
    assert up.health()["watcher_reason"] == "the event queue overflowed"
    assert up.health()["missed_by_events"] >= 1
    assert_promise(up)


def test_directories_whose_parents_are_renamed_too_early_are_watched_later(
    up: ServingProcess, skill: SkillWriter
) -> None:
    """Watchdog skips them silently; the next full scan finds their skills and watches them."""
    up.settings = up.settings.model_copy(update={"rescan_every": 1.0})
    up.start()
    for number in range(20):
        (up.root / f"b{number}").mkdir()
    up.settle()
    up.suspend()
    for number in range(20):
        (up.root / f"b{number}/x").mkdir()
        (up.root / f"b{number}").rename(up.root / f"team{number}")
    up.resume()
    up.wait_for(lambda: "directories were not watched" in up.health()["watcher_reason"])
    for number in range(20):
        skill(up.root / f"team{number}/x", name=f"x{number}")
    up.settle()
    assert up.statuses() == {f"team{number}/x": "active" for number in range(20)}
    assert_promise(up)


def test_beyond_the_systems_limit_of_watches_the_service_polls(
    up: ServingProcess, skill: SkillWriter
) -> None:
    """The limit is a real one, in a user namespace."""
    limit = "echo 40 > /proc/sys/user/max_inotify_watches"
    if subprocess.run(
        ["unshare", "-Ur", "sh", "-c", limit], check=False, capture_output=True
    ).returncode:
        pytest.skip("this system lets nobody lower the limit of watches")
    for number in range(60):
        skill(up.root / f"s{number}")
    up.prefix = ("unshare", "-Ur", "sh", "-c", f'{limit}; exec "$0" "$@"')
    up.start()
    up.wait_for(lambda: up.health()["watcher_mode"] == "polling")
    assert re.search("limit|more directories", up.health()["watcher_reason"])
    skill(up.root / "s59", description="Changed beyond the limit.")
    up.settle()
    assert len(up.statuses()) == 60
    assert_promise(up)
    assert up.health()["missed_by_events"] == 0


def test_a_very_deep_tree_stops_nothing(
    up: ServingProcess, skill: SkillWriter, deep_tree: Path
) -> None:
    """1,100 nested directories end a thread of watchdog, but not the service."""
    up.start()
    deep_tree.rename(up.root / "deep")
    skill(up.root / "a")
    up.settle()
    assert up.statuses() == {"a": "active"}
    skill(up.root / "a", description="Still followed.")
    up.settle()
    assert_promise(up)
    assert "Traceback" not in up.log.read_text()
    up.stop()  # before all is cleared away under it


def test_a_root_that_is_renamed_away_and_back_loses_nothing(
    up: ServingProcess, skill: SkillWriter
) -> None:
    """As after unmounting and mounting a share: removals are held meanwhile."""
    up.start()
    for number in range(5):
        skill(up.root / f"s{number}")
    up.settle()
    away = up.root.rename(up.root.with_name("away"))
    up.wait_for(lambda: up.health()["held_removals"] == 6)
    up.wait_for(lambda: up.health()["watcher_reason"] == f"the root {up.root} is gone")
    assert set(up.statuses().values()) == {"active"}
    skill(away / "s0", description="Changed while away.")
    away.rename(up.root)
    up.wait_for(lambda: up.health()["held_removals"] == 0)
    up.settle()
    assert_promise(up)


@pytest.fixture
def releases(up: ServingProcess) -> tuple[Path, Path]:
    """Return two releases of the skills; the root is a link to the first."""
    first, second = (up.root.with_name(name) for name in ("first", "second"))
    for release, names in ((first, "abcde"), (second, "bcdef")):
        for name in names:
            write_skill(release / name, description=f"Of the {release.name} release.")
    up.root.rmdir()
    up.root.symlink_to(first.name)
    return first, second


def switch(link: Path, target: Path) -> None:
    """Let a link lead elsewhere, in one step."""
    new = link.with_name("next")
    new.symlink_to(target.name)
    new.rename(link)


def test_a_root_that_is_a_link_is_followed_to_its_target(
    up: ServingProcess, releases: tuple[Path, Path]
) -> None:
    """Also to a new target: each release may have its own directory."""
    first, second = releases
    up.start()
    write_skill(first / "a", description="Changed in its real directory.")
    up.wait_for(lambda: up.rows("SELECT 1 FROM skills WHERE description LIKE 'Changed%'"))
    up.settle()
    switch(up.root, second)
    up.wait_for(lambda: set(up.statuses()) == set("abcdef"))
    up.settle()
    assert up.health()["watcher_reason"] == f"the root {up.root} was replaced"
    assert up.statuses() == dict.fromkeys("bcdef", "active") | {"a": "removed"}
    assert up.rows("SELECT DISTINCT description FROM skills WHERE path IN ('b', 'f')") == [
        ("Of the second release.",)
    ]
    missed = up.health()["missed_by_events"]
    write_skill(up.root / "f", description="Still followed.")
    up.settle()
    assert up.rows("SELECT description FROM skills WHERE path = 'f'") == [("Still followed.",)]
    assert up.health()["missed_by_events"] == missed
    assert_promise(up)


@dataclass(frozen=True)
class Disk:
    """Directory of another file system, which the program sees as its root while it is mounted."""

    folder: Path
    up: ServingProcess

    @property
    def mount_command(self) -> str:
        """Shell command that mounts it."""
        return f'mount --bind "{self.folder}" "{self.up.root}"'

    def mount(self) -> None:
        """Mount it."""
        self._run(self.mount_command)

    def unmount(self) -> None:
        """Unmount it."""
        self._run(f'umount "{self.up.root}"')

    def _run(self, command: str) -> None:
        assert self.up.process
        target = ("-t", str(self.up.process.pid), "-U", "-m", "--preserve-credentials")
        subprocess.run(["nsenter", *target, "sh", "-c", command], check=True)


@pytest.fixture
def disk(up: ServingProcess) -> Iterator[Disk]:
    """Return a disk that the program mounts at its start, in its own name space."""
    folder = disks.folder_on_another(up.root)
    try:
        disk = Disk(folder, up)
        command = ("unshare", "-Urm", "sh", "-c")
        if subprocess.run(
            [*command, disk.mount_command], check=False, capture_output=True
        ).returncode:
            pytest.skip("this system forbids mounting")
        up.prefix = (*command, f'{disk.mount_command} && exec "$0" "$@"')
        yield disk
        up.kill()
    finally:
        shutil.rmtree(folder)


def test_an_unmounted_disk_removes_no_skill(
    up: ServingProcess, disk: Disk, skill: SkillWriter
) -> None:
    """The directory below it is empty and on another device, so even one removal is held."""
    skill(disk.folder / "a")
    up.start()
    up.wait_for(lambda: up.statuses() == {"a": "active"} and up.is_quiet())
    disk.unmount()
    up.wait_for(lambda: up.health()["held_removals"] == 1)
    assert up.statuses() == {"a": "active"}
    up.wait_for(lambda: "its root lies on another file system than before" in up.log.read_text())
    disk.mount()
    up.wait_for(lambda: up.health()["held_removals"] == 0)
    assert up.statuses() == {"a": "active"}
    shutil.rmtree(disk.folder / "a")
    up.wait_for(lambda: up.statuses() == {"a": "removed"})


def test_a_scan_names_the_disk_that_is_full(tmp_path: Path, skill: SkillWriter) -> None:
    """Here it has no inodes left for packages, while the disk of the roots has."""
    for number in range(20):
        skill(tmp_path / f"root/s{number}")
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ("unshare", "-Urm", "sh", "-c")
    mount = f'mount -t tmpfs -o nr_inodes=20 tmpfs "{disk}"'
    if subprocess.run([*command, mount], check=False, capture_output=True).returncode:
        pytest.skip("this system forbids mounting")
    program = (Path(sys.executable).with_name("skilldrop"), "--watched", tmp_path / "root")
    done = subprocess.run(
        [*command, f'{mount} && exec "$0" "$@"', *program, "--data", disk, "scan"],
        env=os.environ | {"SKILLDROP_SETTLE_QUIET": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"There is no room left on the disk of {disk}." in done.stderr


def test_many_folders_unpacked_at_once_are_all_stored(
    up: ServingProcess, skill: SkillWriter, tmp_path: Path
) -> None:
    """Afterwards the service rests, and it stays within its memory."""
    up.start()
    packed = tmp_path / "skills.tar"
    one = skill(tmp_path / "one", files={"scripts/run.py": "print(1)\n", "notes.md": "# A\n"})
    with tarfile.open(packed, "w") as tar:
        for number in range(FOLDERS):
            tar.add(one, f"group-{number // 100}/s{number:05}")
    subprocess.run(["tar", "xf", packed, "-C", up.root], check=True)
    up.settle()
    assert up.rows("SELECT count(*) FROM skills WHERE status IN ('active', 'shadowed')") == [
        (FOLDERS + 1,)
    ]
    assert_promise(up)
    assert up.health()["missed_by_events"] == 0
    assert up.process
    status = Path(f"/proc/{up.process.pid}/status").read_text()
    assert int(status.split("VmHWM:")[1].split()[0]) < MEMORY
    before = cpu_seconds(up.process.pid)
    time.sleep(1)  # a second of rest, in which a livelock would burn one of the processor's
    assert cpu_seconds(up.process.pid) - before < 0.5


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
