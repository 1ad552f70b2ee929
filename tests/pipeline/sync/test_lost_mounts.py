"""Mounts below a root, and their skills after the mount is lost."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.sync.lost_mounts import LostMounts
from pipeline.sync.open_catalog import open_store
from pipeline.sync.run_once import scan_once
from tests.support.serving import Serving, ServingProcess
from tests.support.skills import SkillWriter


class Namespace:
    """Process in its own mount namespace, apart from the mounts of the machine."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            ["unshare", "-Urm", "sh", "-c", "echo; exec sleep 600"],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout
        self._process.stdout.readline()
        self.prefix = (
            "nsenter",
            "-t",
            str(self._process.pid),
            "-U",
            "-m",
            "--preserve-credentials",
        )

    def run(self, *words: str | Path) -> str:
        """Run a program in the namespace, and return its output."""
        return subprocess.run(
            [*self.prefix, *words], check=True, capture_output=True, text=True
        ).stdout

    def mount(self, path: Path) -> None:
        """Mount a new, empty file system at a path."""
        self.run("mount", "-t", "tmpfs", "tmpfs", path)

    def seen(self, path: Path) -> Path:
        """Return a path for this process to a path in the namespace."""
        return Path(f"/proc/{self._process.pid}/root{path}")

    def end(self) -> None:
        """End the process and its mounts."""
        self._process.terminate()
        self._process.communicate()


@pytest.fixture
def namespace() -> Iterator[Namespace]:
    """Return a process in its own mount namespace; skip if this user may not create one."""
    tried = subprocess.run(
        ["unshare", "-Urm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
        check=False,
        capture_output=True,
    )
    if tried.returncode:
        pytest.skip("this system lets nobody mount anything")
    made = Namespace()
    yield made
    made.end()


class Scanning(Serving):
    """`skilldrop scan` in a namespace."""

    def __init__(self, folder: Path, namespace: Namespace) -> None:
        super().__init__(folder)
        self._namespace = namespace
        self.team = self.root / "team"
        self.team.mkdir()

    def scan(self, *words: str) -> str:
        """Run a full scan."""
        return self._namespace.run(
            "env",
            "SKILLDROP_SETTLE_QUIET=0",
            Path(sys.executable).with_name("skilldrop"),
            "--watched",
            self.root,
            "--data",
            self.settings.data,
            *(words or ("scan",)),
        )

    def held(self) -> dict[str, str]:
        """Return the reasons of held removals, by path."""
        return dict(self.rows("SELECT path, pending_reason FROM skills WHERE is_held"))


@pytest.fixture
def scanning(tmp_path: Path, namespace: Namespace, skill: SkillWriter) -> Scanning:
    """Return a root with one skill, and two on a mount at `team`."""
    made = Scanning(tmp_path, namespace)
    namespace.mount(made.team)
    for name in ("a", "b"):
        skill(namespace.seen(made.team) / name)
    skill(made.root / "own")
    made.scan()
    assert made.statuses() == {"team/a": "active", "team/b": "active", "own": "active"}
    return made


def test_skills_on_a_lost_mount_are_held(
    scanning: Scanning, namespace: Namespace, skill: SkillWriter
) -> None:
    """The reason names the mount; changes in the rest of the root are stored as usual."""
    namespace.run("umount", scanning.team)
    shutil.rmtree(scanning.root / "own")
    scanning.scan()
    why = f"nothing is mounted any more at {scanning.team}"
    assert scanning.held() == {"team/a": why, "team/b": why}
    assert scanning.statuses() == {"team/a": "active", "team/b": "active", "own": "removed"}
    assert "team" in scanning.index() or "a/current" in scanning.index()
    scanning.scan()
    assert scanning.held() == {"team/a": why, "team/b": why}
    namespace.mount(scanning.team)
    for name in ("a", "b"):
        skill(namespace.seen(scanning.team) / name)
    scanning.scan()
    assert scanning.held() == {}
    shutil.rmtree(namespace.seen(scanning.team) / "b")
    scanning.scan()
    assert scanning.statuses() == {"team/a": "active", "team/b": "removed", "own": "removed"}


def test_skills_on_a_mount_lost_with_its_directory_are_held(
    scanning: Scanning, namespace: Namespace
) -> None:
    """Even a single skill, as for a missing root."""
    namespace.run("umount", scanning.team)
    scanning.team.rmdir()
    scanning.scan()
    assert set(scanning.held()) == {"team/a", "team/b"}
    scanning.scan("reconcile", "--accept-removals")
    assert scanning.statuses() == {"team/a": "removed", "team/b": "removed", "own": "active"}
    assert scanning.rows("SELECT path FROM mounts") == [("",)]


def test_another_file_system_at_the_same_place_removes_nothing(
    scanning: Scanning, namespace: Namespace, skill: SkillWriter
) -> None:
    """Even if it has the same device number and holds one of the skills."""
    namespace.run("umount", scanning.team)
    namespace.mount(scanning.team)
    skill(namespace.seen(scanning.team) / "a")
    scanning.scan()
    assert scanning.held() == {"team/b": f"another file system is mounted at {scanning.team}"}


def test_skills_covered_by_a_mount_are_held(
    scanning: Scanning, namespace: Namespace, skill: SkillWriter
) -> None:
    """They are back after the mount is unmounted."""
    skill(scanning.root / "group/covered")
    scanning.scan()
    namespace.mount(scanning.root / "group")
    scanning.scan()
    assert scanning.held() == {
        "group/covered": f"another file system is mounted at {scanning.root}/group"
    }
    namespace.run("umount", scanning.root / "group")
    scanning.scan()
    assert scanning.held() == {}
    shutil.rmtree(scanning.root / "group")
    scanning.scan()
    assert scanning.statuses()["group/covered"] == "removed"


def test_a_skill_that_is_reached_by_a_link_to_a_mount_is_held_with_it(
    scanning: Scanning, namespace: Namespace
) -> None:
    """The link still exists but is broken."""
    (scanning.root / "a").symlink_to("team/a")
    scanning.scan()
    namespace.run("umount", scanning.team)
    scanning.scan()
    assert set(scanning.held()) == {"team/a", "team/b", "a"}


def test_a_service_holds_skills_on_a_lost_mount(
    tmp_path: Path, namespace: Namespace, skill: SkillWriter
) -> None:
    """Even skills known only by events, and mounts lost before a full scan."""
    it = ServingProcess(tmp_path, rescan_every=1.0)
    it.prefix = namespace.prefix
    team = it.root / "team"
    team.mkdir()
    namespace.mount(team)
    it.start()
    skill(namespace.seen(team) / "a")
    it.wait_for(lambda: it.statuses().get("team/a") == "active")
    namespace.run("umount", team)
    it.wait_for(lambda: it.health()["held_removals"] == 1)
    assert it.rows("SELECT pending_reason FROM skills WHERE is_held") == [
        (f"nothing is mounted any more at {team}",)
    ]
    it.stop()


def scanned(settings: Settings) -> None:
    """Run one scan, with or without a root."""
    store = open_store(settings, needs_root=False)
    scan_once(settings, store)
    store.close()


def test_a_missing_root_is_reported_as_missing(tmp_path: Path, skill: SkillWriter) -> None:
    """Neither as unreadable nor as another file system."""
    it = Serving(tmp_path, settle_quiet=0)
    skill(it.root / "a")
    scanned(it.settings)
    it.root.rename(tmp_path / "away")
    scanned(it.settings)
    assert it.rows("SELECT pending_reason FROM skills") == [("its root is missing",)]


def test_a_skill_that_is_simply_gone_is_not_held(tmp_path: Path) -> None:
    """Its root is unchanged and has no mounts below it."""
    it = Serving(tmp_path)
    store: Store = open_store(it.settings)
    assert LostMounts(store, str(it.root), is_lost=False).reason_to_hold("a/b") is None
    store.close()
