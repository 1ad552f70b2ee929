"""Waiting for conditions, and overflowing the event queue."""

import time
from collections.abc import Callable
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
