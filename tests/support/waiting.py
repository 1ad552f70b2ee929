"""Waiting for conditions, measuring a wait, and overflowing the event queue."""

import time
from collections.abc import Callable
from contextlib import suppress
from itertools import chain
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 60.0
"""Seconds that a loaded machine may take for what takes well under a second on an idle one."""


def wait_for(what: Callable[[], T], meanwhile: Callable[[], object] = lambda: None) -> T:
    """Wait until something is true, and return it.

    Between two looks, call `meanwhile`, which may raise an exception to end the wait. A look takes
    processor time from what is waited for, so looks become rarer the longer the wait is.
    """
    began = time.monotonic()
    while not (found := what()):
        meanwhile()
        waited = time.monotonic() - began
        assert waited < PATIENCE, "it never came true"
        time.sleep(min(max(0.01, waited / 10), 0.05))  # no event reports another process's state
    return found


class Stopwatch:
    """Seconds that pass for some processes, without those that their threads queue for a processor.

    So a loaded machine does not count as a slow program. Where the system does not tell, all count.
    """

    def __init__(self, *pids: int) -> None:
        self._pids = pids
        self._began = time.monotonic()
        self._first = self._queued()
        self._last = dict(self._first)

    def look(self) -> None:
        """Read how long the threads have queued; those of an ended process cannot be read."""
        self._last |= self._queued()

    def seconds(self) -> float:
        """Return the seconds since the start, less those of queuing until the last look."""
        queued = sum(ns - self._first.get(task, 0) for task, ns in self._last.items())
        return time.monotonic() - self._began - queued / 1e9

    def _queued(self) -> dict[Path, int]:
        found = {}
        for task in chain.from_iterable(Path("/proc").glob(f"{pid}/task/*") for pid in self._pids):
            with suppress(OSError):
                found[task] = int((task / "schedstat").read_text().split()[1])
        return found


def overflow(watched: Path) -> None:
    """Change two files of a watched directory in turn, until the event queue overflows.

    Two equal events in a row would count as one. Renames are no alternative: watchdog takes time
    that grows with the square of their number.
    """
    files = [watched / "one", watched / "two"]
    for file in files:
        file.touch()
    for _ in range(int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())):
        for file in files:
            file.chmod(0o644)
