"""File systems that are mounted below a root, and their skills after unmounting."""

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from pathlib import Path

import pytest

from pipeline.config.settings import Settings
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
from tests.support import program
from tests.support.indexes import location_of
from tests.support.serving import Serving, ServingProcess
from tests.support.skills import SkillWriter
from tests.support.waiting import PATIENCE


class Namespace:
    """Process with its own mounts; those of the machine are not changed."""

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
        """Run a program in the process, and return its output."""
        return subprocess.run(
            [*self.prefix, *words], check=True, capture_output=True, text=True
        ).stdout

    def mount(self, path: Path) -> None:
        """Mount an empty file system at a path."""
        self.run("mount", "-t", "tmpfs", "tmpfs", path)

    def call(self, work: Callable[..., object], *given: object) -> None:
        """Call a function in a fork of this process that has the mounts, and expect no error."""
        fork = get_context("fork").Process(target=self._enter_and_call, args=(work, *given))
        fork.start()
        fork.join(PATIENCE)
        assert fork.exitcode == 0

    def _enter_and_call(self, work: Callable[..., object], *given: object) -> None:
        library = ctypes.CDLL(None)
        for kind in ("user", "mnt"):
            with Path(f"/proc/{self._process.pid}/ns/{kind}").open() as namespace:
                assert library.setns(namespace.fileno(), 0) == 0
        work(*given)

    def seen(self, path: Path) -> Path:
        """Return a path by which this process reaches the mounted files."""
        return Path(f"/proc/{self._process.pid}/root{path}")

    def end(self) -> None:
        """End the process, and its mounts with it."""
        self._process.terminate()
        self._process.communicate()


@pytest.fixture
def namespace() -> Iterator[Namespace]:
    """Return a process with its own mounts; skip if the user is not allowed to have one."""
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

    def scan(self, *words: str) -> None:
        """Scan everything once."""
        self._namespace.call(self._run_command, *(words or ("scan",)))

    def _run_command(self, *words: str) -> None:
        catalog = ("--watched", self.root, "--data", self.settings.data)
        done = program.run(*catalog, *words, SKILLDROP_SETTLE_QUIET="0")
        assert done.returncode == 0, done.stderr

    def held(self) -> dict[str, str]:
        """Return the reason of each held removal."""
        return dict(self.rows("SELECT path, pending_reason FROM skills WHERE is_held"))


@pytest.fixture
def scanning(tmp_path: Path, namespace: Namespace, skill: SkillWriter) -> Scanning:
    """Return a root with one skill, and two more on a mount at `team`."""
    made = Scanning(tmp_path, namespace)
    namespace.mount(made.team)
    for name in ("a", "b"):
        skill(namespace.seen(made.team) / name)
    skill(made.root / "own")
    made.scan()
    assert made.statuses() == {"team/a": "active", "team/b": "active", "own": "active"}
    return made


def test_skills_of_an_unmounted_file_system_are_held(
    scanning: Scanning, namespace: Namespace, skill: SkillWriter
) -> None:
    """The reason names it; the rest of the root is followed as usual."""
    namespace.run("umount", scanning.team)
    shutil.rmtree(scanning.root / "own")
    scanning.scan()
    why = f"nothing is mounted any more at {scanning.team}"
    assert scanning.held() == {"team/a": why, "team/b": why}
    assert scanning.statuses() == {"team/a": "active", "team/b": "active", "own": "removed"}
    assert "team" in scanning.index() or location_of(scanning.index(), "a")
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


def test_skills_are_held_if_the_mount_point_is_gone_too(
    scanning: Scanning, namespace: Namespace
) -> None:
    """Even a single skill, as if the root were missing."""
    namespace.run("umount", scanning.team)
    scanning.team.rmdir()
    scanning.scan()
    assert set(scanning.held()) == {"team/a", "team/b"}
    scanning.scan("reconcile", "--accept-removals")
    assert scanning.statuses() == {"team/a": "removed", "team/b": "removed", "own": "active"}
    assert scanning.rows("SELECT m.key FROM roots, json_each(mounts) AS m") == [("",)]


def test_another_file_system_at_the_same_place_removes_nothing(
    scanning: Scanning, namespace: Namespace, skill: SkillWriter
) -> None:
    """It may have the same device number, and even one of the skills."""
    namespace.run("umount", scanning.team)
    namespace.mount(scanning.team)
    skill(namespace.seen(scanning.team) / "a")
    scanning.scan()
    assert scanning.held() == {"team/b": f"another file system is mounted at {scanning.team}"}


def test_skills_below_a_new_mount_are_held(
    scanning: Scanning, namespace: Namespace, skill: SkillWriter
) -> None:
    """They are back once it is unmounted."""
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
    """The link still exists, without a target."""
    (scanning.root / "a").symlink_to("team/a")
    scanning.scan()
    namespace.run("umount", scanning.team)
    scanning.scan()
    assert set(scanning.held()) == {"team/a", "team/b", "a"}


def test_a_service_holds_the_skills_of_an_unmounted_file_system(
    tmp_path: Path, namespace: Namespace, skill: SkillWriter
) -> None:
    """Also skills known only from events, and before its next full scan."""
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
    """Scan a root, which may be missing."""
    store = open_store(settings, needs_root=False)
    scan_once(settings, store)
    store.close()


def test_a_root_that_is_gone_is_called_missing(tmp_path: Path, skill: SkillWriter) -> None:
    """It is neither called unreadable nor on another device."""
    it = Serving(tmp_path, settle_quiet=0)
    skill(it.root / "a")
    scanned(it.settings)
    it.root.rename(tmp_path / "away")
    scanned(it.settings)
    assert it.rows("SELECT pending_reason FROM skills") == [("its root is missing",)]


def test_a_deleted_skill_has_no_reason_to_be_held(tmp_path: Path, skill: SkillWriter) -> None:
    """Its root is the same, and no file system is mounted below it."""
    it = Serving(tmp_path, settle_quiet=0)
    skill(it.root / "a/b")
    scanned(it.settings)
    shutil.rmtree(it.root / "a")
    scanned(it.settings)
    assert it.rows("SELECT status, pending_reason FROM skills") == [("removed", None)]
