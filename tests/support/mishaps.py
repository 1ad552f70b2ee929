"""Events that no change to a root causes: damage, clocks, quotas, killed helpers."""

import os
import random
import shutil
import sqlite3
import sys
import time
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from catalog.database.queries import Database
from catalog.model.paths import os_path
from catalog.model.setting import Retention
from catalog.writing.packages.inspection import damages, package_files
from pipeline.service import reconcile
from tests.support.serving import FAKETIME, Serving, ServingProcess
from tests.support.skills import write_skill

QUOTAS = [{"packages_bytes": 1}, {"free_bytes": 2**62}]
SWARM = 200
"""Skills that change together: enough for helpers to be started."""


class SetClock(datetime):
    """Time of day, which can be set."""

    step = timedelta()

    @classmethod
    def now(cls, tz: object = None) -> "SetClock":
        """Return the time of day that was set."""
        return cls.fromtimestamp((datetime.now(UTC) + cls.step).timestamp(), UTC)


class Mishaps(RuleBasedStateMachine):
    """Part of a life in which something breaks."""

    it: Serving
    top: Path

    def __init__(self) -> None:
        super().__init__()
        self.is_damaged = False
        self._before_damage: set[str] = set()  # packages
        self._patches = pytest.MonkeyPatch()

    # Damage

    @rule(
        number=st.integers(0, 10**6),
        how=st.sampled_from(["flip", "flip", "mode", "remove"]),
        is_changed=st.booleans(),
    )
    def damage_a_package(self, number: int, how: str, is_changed: bool) -> None:
        """Damage, remove or change the mode of a published file; perhaps a version follows."""
        self.it.settle()
        files = self.it.rows(
            "SELECT v.package_path || '/' || f.path, s.root || '/' || s.path FROM files AS f"
            " JOIN versions AS v ON v.id = f.version JOIN skills AS s ON s.id = v.skill"
            " WHERE v.package_path NOT NULL AND f.size > 0 AND s.path != 'sentinel'"
            " ORDER BY v.id DESC, f.path LIMIT 40"
        )
        if not files:
            return
        path, folder = files[number % len(files)]
        with suppress(FileNotFoundError):  # it was taken before
            damage(self.it.settings.packages_folder / os_path(path), how)
        self.is_damaged, self._before_damage = True, set(self._packages())
        if is_changed:
            with suppress(OSError):
                (Path(os_path(folder)) / "beside.md").write_text(str(number))

    def mend_damage(self) -> None:
        """Let all packages be verified; those made after the damage have none."""
        if not self.is_damaged:
            return
        for package_path in self._packages().keys() - self._before_damage:
            assert self._damages(package_path) == []
        reconcile.repair(self.it.settings)
        assert [found for path in self._packages() for found in self._damages(path)] == []
        self.is_damaged = False

    def _packages(self) -> dict[str, int]:
        return dict(
            self.it.rows("SELECT package_path, id FROM versions WHERE package_path NOT NULL")
        )

    def _damages(self, package_path: str) -> list[str]:
        with closing(sqlite3.connect(self.it.settings.catalog_path)) as db:
            files = package_files(Database(db), self._packages()[package_path])
        return [
            f"{package_path}: {each}"
            for each in damages(self.it.settings.packages_folder, package_path, files, deep=True)
        ]

    # The clock

    @precondition(lambda self: bool(FAKETIME) or not isinstance(self.it, ServingProcess))
    @rule(hours=st.sampled_from([-1, 1]))
    def set_the_clock(self, hours: int) -> None:
        """Set the clock an hour back or forward: full scans continue, and nothing is removed."""
        self.it.settle()
        self.it.rescan()
        before = self._gone()
        if isinstance(self.it, ServingProcess):
            self.it.set_clock(hours)
        else:
            self._patch_clock()
            SetClock.step += timedelta(hours=hours)
        self.it.rescan()
        assert self._gone() == before

    def right_the_clock(self) -> None:
        """Give the process the clock of the test again."""
        if isinstance(self.it, ServingProcess) and FAKETIME:
            self.it.set_clock(0)

    def _patch_clock(self) -> None:
        clocked = [
            module
            for name, module in sys.modules.items()
            if name.partition(".")[0] in ("catalog", "pipeline")
        ]
        for module in clocked:
            if getattr(module, "datetime", None) is datetime:
                self._patches.setattr(module, "datetime", SetClock)

    def _gone(self) -> list[tuple[str, bool]]:
        return self.it.rows(
            "SELECT path, is_held FROM skills WHERE is_held OR status = 'removed' ORDER BY path"
        )

    def assert_times_go_on(self) -> None:
        """Assert that later events of a skill have later times."""
        for table, column in (("versions", "ingested_at"), ("ingestions", "started_at")):
            assert (
                self.it.rows(
                    f"SELECT * FROM (SELECT {column} AS at, lag({column}) OVER"
                    f" (PARTITION BY skill ORDER BY id) AS before FROM {table}) WHERE at < before"
                )
                == []
            ), table

    # Quotas

    @rule(quota=st.sampled_from(QUOTAS), number=st.integers(0, 10**6))
    def run_short(self, quota: dict[str, Any], number: int) -> None:
        """Run under a quota that lets nothing through, and then without it."""
        self.it.stop()
        usual = self.it.settings
        self.it.settings = usual.model_copy(
            update={"retention": replace(Retention(history_rows=100_000), **quota)}
        )
        self.it.start()
        for said in (f"One {number}.", f"Two {number}."):
            write_skill(self.it.root / "quota", description=said)
            self.it.wait_for(
                lambda said=said: self.it.rows(
                    "SELECT 1 FROM skills WHERE path = 'quota' AND description = ?"
                    " UNION SELECT 1 FROM troubles WHERE message LIKE 'Nothing is published%'",
                    said,
                )
            )
        self.it.stop()
        self.it.settings = usual
        self.it.start()
        self.it.settle()
        assert self.it.rows(
            "SELECT 1 FROM skills WHERE path = 'quota' AND description = ?"
            " AND package_path NOT NULL",
            said,
        )

    # Helpers

    @precondition(lambda self: isinstance(self.it, ServingProcess))
    @rule(number=st.integers(0, 10**6))
    def kill_helpers(self, number: int) -> None:
        """Kill the child processes again and again while much changes."""
        assert isinstance(self.it, ServingProcess)
        chance, said = random.Random(number), f"Number {number}."
        for at in range(SWARM):
            write_skill(self.it.root / f"swarm/s{at}", description=said)
        while self.it.rows(
            "SELECT count(*) FROM skills WHERE path LIKE 'swarm/%' AND description = ?", said
        ) != [(SWARM,)]:
            self.it.kill_helper(chance)
            self.it.wait_for(lambda: True)  # the program itself lives
            time.sleep(chance.uniform(0.0, 0.05))  # a random moment
        shutil.rmtree(self.it.root / "swarm")

    def forget_mishaps(self) -> None:
        """Restore the clock."""
        self._patches.undo()
        SetClock.step = timedelta()


def damage(file: Path, how: str) -> None:
    """Damage a file of a package as a disk or a careless user does."""
    file.parent.chmod(0o755)
    try:
        if how == "remove":
            file.unlink()
        elif how == "mode":
            file.chmod(0o646)
        else:
            flip(file)
    finally:
        file.parent.chmod(0o555)


def flip(file: Path) -> None:
    """Change one bit of a file, but not its size, mode or time."""
    was = file.stat()
    file.chmod(0o644)
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    with file.open("r+b") as opened:  # in place, as all names of the file see it
        opened.write(data)
    file.chmod(was.st_mode & 0o777)
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
