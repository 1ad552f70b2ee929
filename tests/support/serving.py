"""Real service on a real directory, in a thread or a process, and ways to wait for it."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from catalog.model.setting import Retention
from pipeline.config.settings import Settings
from pipeline.service import loop
from pipeline.service.loop import Service
from pipeline.service.open_catalog import open_store
from tests.support.ports import free_port
from tests.support.skills import write_skill
from tests.support.waiting import PATIENCE, wait_for

FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"), None)
"""The library that gives a program another clock; None where it is not installed."""


class WrongQuery(AssertionError):
    """Query of a test that does not fit the tables of the catalog."""


_HEALTH = "SELECT 1 FROM sqlite_master WHERE name = 'health'"
"""Query that says whether a catalog has its tables."""

TICK = 0.1
"""Seconds between two checks of the watcher by a service in a thread."""


class Serving:
    """Service that can be stopped and started again, with access to its catalog."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.root = folder / "root"
        self.root.mkdir(parents=True, exist_ok=True)
        self.settings = Settings(
            **{
                "watched": self.root,
                "data": folder / "data",
                "settle_quiet": 0.1,
                "rescan_every": 3600.0,
                "poll_every": 0.2,
                "site": {"enabled": False},
                "retention": Retention(history_rows=100_000),
                **settings,
            }
        )
        self.failure: BaseException | None = None
        self.service: Service | None = None
        self._thread: threading.Thread | None = None
        self._ticks = 0

    def start(self) -> "Serving":
        """Start, and return once everything is listened to."""
        begun = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(begun,))
        self._thread.start()
        self.wait_for(begun.is_set)
        return self

    def stop(self) -> None:
        """Stop and wait for the end."""
        if self.service and self._thread:
            self.service.stop()
            self._thread.join(PATIENCE)
            assert not self._thread.is_alive()
            self._thread = None

    @property
    def is_running(self) -> bool:
        """Whether it was started and not stopped."""
        return self._thread is not None

    def rescan(self) -> None:
        """Request a full scan, and wait for its end."""
        assert self.service
        before = self.rows("SELECT ifnull(max(id), 0) FROM scans")[0][0]
        self.service.rescan()
        self._await_scan_after(before)

    def _await_scan_after(self, scan: int) -> None:
        self.wait_for(
            lambda: self.rows("SELECT 1 FROM scans WHERE id > ? AND took_ms IS NOT NULL", scan)
        )
        self.wait_for(self.is_quiet)

    def _run(self, begun: threading.Event) -> None:
        try:  # here, as a connection belongs to its thread
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(loop, "TICK", TICK)
                self.service = Service(self.settings, open_store(self.settings))
                self.service.run(begun.set)
        except BaseException as error:  # noqa: BLE001  # for the test's thread to raise
            self.failure = error

    def wait_for(self, what: Callable[..., Any]) -> Any:
        """Wait until something is true, and return it."""
        try:
            return wait_for(what, self._raise_failure)
        except AssertionError as error:
            error.add_note(f"health: {self.health()}")
            raise

    def _raise_failure(self) -> None:
        if self.failure:
            raise self.failure

    def settle(self) -> None:
        """Wait until all earlier changes in the root have been handled.

        The events of a new folder come after all earlier ones, so once it is in the catalog,
        `is_quiet` is correct for all of them.
        """
        self._ticks += 1
        said = f"Tick {self._ticks}."
        write_skill(self.root / "sentinel", description=said)
        self.wait_for(
            lambda: self.rows(
                "SELECT 1 FROM skills WHERE path = 'sentinel' AND description = ?", said
            )
        )
        self.wait_for(self.is_quiet)
        if self.health()["watcher_mode"] == "polling":  # the look that saw it may have begun before
            for _ in range(2):
                last = self.health()["last_full_scan"]
                self.wait_for(lambda last=last: self.health()["last_full_scan"] != last)
            self.wait_for(self.is_quiet)

    def is_quiet(self) -> bool:
        """Return whether the service has nothing to do."""
        return self.health().get("quiet_since") is not None

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """Query the catalog file; return nothing while it does not exist.

        A file that is locked or, on purpose, damaged has no rows either. A query that is wrong,
        for example because it names a column that does not exist, raises WrongQuery.
        """
        return [tuple(row) for row in self._rows(sql, *values)]

    def _rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        try:
            db = sqlite3.connect(f"file:{self.settings.catalog_path}?mode=ro", uri=True)
        except sqlite3.OperationalError:
            return []
        db.row_factory = sqlite3.Row
        with closing(db), suppress(sqlite3.DatabaseError):
            has_tables = db.execute(_HEALTH).fetchone()  # before: they may appear meanwhile
            try:
                return db.execute(sql, values).fetchall()
            except sqlite3.OperationalError as error:
                if has_tables and error.sqlite_errorcode == sqlite3.SQLITE_ERROR:
                    raise WrongQuery(sql) from error
        return []

    def health(self) -> dict[str, Any]:
        """Return the health row."""
        rows = self._rows("SELECT * FROM health")
        return dict(rows[0]) if rows else {}

    def statuses(self) -> dict[str, str]:
        """Return the status of every stored skill folder except the sentinel."""
        return dict(self.rows("SELECT path, status FROM skills WHERE path != 'sentinel'"))

    def index(self) -> str:
        """Return the text of the index file; nothing while it does not exist."""
        path = self.settings.index_folder / "default.txt"
        return path.read_text(encoding="utf-8") if path.exists() else ""


class ServingProcess(Serving):
    """Service in a `skilldrop up` process, which scans everything every second."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        super().__init__(folder, **{"rescan_every": 1.0, **settings})
        self.process: subprocess.Popen[bytes] | None = None
        self.log = folder / "up.log"
        self.prefix: tuple[str, ...] = ()
        self.clock = folder / "clock"

    @property
    def is_running(self) -> bool:
        """Whether it was started and not stopped."""
        return self.process is not None

    def start(self) -> "ServingProcess":
        """Start the program, and return once it watches everything."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command(), env=os.environ | self._environment(), stdout=log, stderr=log
            )
        pid = self.process.pid
        self.wait_for(
            lambda: (
                self.health().get("service_pid") == pid
                and self.health()["watcher_mode"] != "stopped"
            )
        )
        return self

    def _command(self) -> list[str | Path]:
        site = ["--port", str(free_port())] if self.settings.site.enabled else ["--no-site"]
        return [
            *self.prefix,
            Path(sys.executable).with_name("skilldrop"),
            "--watched",
            self.root,
            "--data",
            self.settings.data,
            "up",
            *site,
        ]

    def _environment(self) -> dict[str, str]:
        env = {
            f"SKILLDROP_{name.upper()}": str(getattr(self.settings, name))
            for name in ("settle_quiet", "settle_longest", "rescan_every", "poll_every", "follow")
        }
        env["SKILLDROP_RETENTION"] = json.dumps(
            {
                key: value
                for key, value in asdict(self.settings.retention).items()
                if value is not None
            }
        )
        if self.clock.exists():
            env |= {
                "LD_PRELOAD": str(FAKETIME),
                "FAKETIME_TIMESTAMP_FILE": str(self.clock),
                "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                "NO_FAKE_STAT": "1",
            }
        return env

    def stop(self) -> None:
        """Stop in order and wait for the end."""
        if self.process:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            assert self.process.wait(PATIENCE) == 0, self.log.read_text()
            self.process = None

    def kill(self) -> None:
        """End the program at once, as a power cut would."""
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None

    def suspend(self) -> None:
        """Stop the process with a signal."""
        assert self.process
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let the process continue."""
        assert self.process
        self.process.send_signal(signal.SIGCONT)

    def set_clock(self, hours: int) -> None:
        """Let the program's clock differ by some hours; it must have been set before the start."""
        self.clock.write_text(f"{hours * 3600:+d}")

    def kill_helper(self, chance: random.Random) -> bool:
        """End one child process of the program by some signal; return whether it had one."""
        assert self.process
        there = helpers(self.process.pid)
        with suppress(ProcessLookupError):
            if there:
                os.kill(chance.choice(there), chance.choice((signal.SIGKILL, signal.SIGTERM)))
        return bool(there)

    def rescan(self) -> None:
        """Wait for a full scan that begins after this call."""
        now = self.rows("SELECT ifnull(max(id), 0) FROM scans")[0][0]
        self._await_scan_after(now)

    def wait_for(self, what: Callable[..., Any]) -> Any:
        """Wait until something is true, and return it; a program that ends fails at once."""

        def checked() -> Any:
            if self.process and self.process.poll() is not None:
                raise AssertionError(f"it ended: {self.log.read_text()}")
            return what()

        return super().wait_for(checked)


def helpers(pid: int) -> list[int]:
    """Return the child processes of a process, and theirs, except Python's resource tracker.

    If that is killed, the next one prints tracebacks about semaphores that it does not know.
    """
    return [child for child in descendants(pid) if not _is_tracker(child)]


def descendants(pid: int) -> list[int]:
    """Return the child processes of a process, and theirs."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def _is_tracker(pid: int) -> bool:
    """Return whether a process is the resource tracker of multiprocessing."""
    with suppress(OSError):
        return b"resource_tracker" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False
