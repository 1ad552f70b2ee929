"""Events that remove many skills at once, and may bring them back."""

import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.engines import serial
from tests.support.serving import Serving
from tests.support.skills import write_skill

MAY_MOUNT = "LIVES_MAY_MOUNT"
"""Set in the environment of a process that has mounts of its own, which are no others'."""

CROWD = 22
"""Skills that come and go together: enough for the brake, where there are not many others."""


def own_mounts() -> list[str]:
    """Return the words that run a program with its own mounts; none if that is forbidden."""
    words = ["unshare", "-m" if os.geteuid() == 0 else "-Urm"]
    tried = subprocess.run(
        [*words, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], check=False, capture_output=True
    )
    return [] if tried.returncode else [*words, "env", f"{MAY_MOUNT}=1"]


class Departures(RuleBasedStateMachine):
    """Part of a life in which removals are held."""

    it: Serving
    top: Path

    def __init__(self) -> None:
        super().__init__()
        self.is_mounted = False
        self.has_mounted = False  # which no event tells of

    @rule(returns=st.booleans())
    def let_a_crowd_go(self, returns: bool) -> None:
        """Remove so many skills at once that the removal is held; perhaps bring them back."""
        crowd, aside = self.it.root / "crowd", self.top / "aside"
        for number in range(CROWD):
            write_skill(crowd / f"c{number}", description="One of many.")
        self.it.settle()
        crowd.rename(aside)
        self.it.settle()
        self.assert_held_are_published()
        if returns:
            with suppress(OSError):
                aside.rename(crowd)
        shutil.rmtree(aside, ignore_errors=True)

    @rule()
    def leave_the_configuration(self) -> None:
        """Scan once with another root configured, and start again."""
        self.it.stop()
        removed = self._removed()
        other = self.top / "other"
        other.mkdir(exist_ok=True)
        settings = self.it.settings.model_copy(update={"watched": other})
        store = open_store(settings)
        scan_once(settings, store, engine=serial)
        store.close()
        assert self._removed() == removed
        assert (
            self.it.rows("SELECT path FROM skills WHERE status != 'removed' AND NOT is_held") == []
        )
        self.it.start()

    @precondition(lambda self: MAY_MOUNT in os.environ)
    @rule(name=st.sampled_from(["a", "m", "n"]))
    def write_on_a_mount(self, name: str) -> None:
        """Write a skill on a file system mounted below the root."""
        self.mount()
        write_skill(self.it.root / "disk" / name, description="On a disk of its own.")

    @precondition(lambda self: self.is_mounted)
    @rule(is_looked_for=st.booleans())
    def unmount(self, is_looked_for: bool) -> None:
        """Unmount it, and perhaps scan at once."""
        subprocess.run(["umount", "-l", self.it.root / "disk"], check=True)
        self.is_mounted = False
        if is_looked_for:
            self.it.rescan()
            self.assert_held_are_published()

    def mount(self) -> None:
        """Mount a directory below the root, if it is not mounted."""
        if not self.is_mounted:
            for directory in (self.top / "disk", self.it.root / "disk"):
                directory.mkdir(exist_ok=True)
            subprocess.run(
                ["mount", "--bind", self.top / "disk", self.it.root / "disk"], check=True
            )
            self.is_mounted = self.has_mounted = True

    def assert_held_are_published(self) -> None:
        """Assert that agents can read held skills as before."""
        assert self.it.rows("SELECT path FROM skills WHERE is_held AND status = 'removed'") == []
        for skill_id, package_path in self.it.rows(
            "SELECT skill_id, package_path FROM skills WHERE is_held AND status = 'active'"
        ):
            current = self.it.settings.packages_folder / skill_id / "current"
            assert current.resolve() == self.it.settings.packages_folder / package_path

    def _removed(self) -> list[tuple[str, ...]]:
        return self.it.rows("SELECT path FROM skills WHERE status = 'removed' ORDER BY path")
