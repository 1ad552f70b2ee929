"""Time since the machine started, independent of changes to its clock."""

import time
from functools import cache
from pathlib import Path

from catalog.writing.tables.removals import Uptime

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def uptime() -> Uptime:
    """Return the id of the current boot and the seconds since it, including sleep."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return Uptime(_boot_id(), time.clock_gettime(clock))


@cache
def _boot_id() -> str:
    """Return the id of the current boot; empty if the system has none."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""
