"""Time since the machine was started, which no change of its clock moves."""

import time
from functools import cache
from pathlib import Path

from catalog.writing.tables.removals import Uptime

_BOOT = Path("/proc/sys/kernel/random/boot_id")


def uptime() -> Uptime:
    """Return which start of the machine it is, and the seconds since then, asleep or not."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return Uptime(_boot(), time.clock_gettime(clock))


@cache
def _boot() -> str:
    """Return a name for this start of the machine; the same for each where there is none."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""
