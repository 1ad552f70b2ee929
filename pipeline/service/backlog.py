"""Units that wait for room on the disk, or for the rate at which versions may come."""

import logging
from collections.abc import Iterable, Mapping

from catalog.model.trouble import Problem
from pipeline.roots.units import WatchUnit

log = logging.getLogger("skilldrop")

ROOM_PAUSE = 30.0
"""Seconds until what there was no room for is tried again."""


class Backlog:
    """The units that are looked at again at a time of their own, on the monotonic clock."""

    def __init__(self) -> None:
        self._until: dict[WatchUnit, float] = {}
        self._crowded: dict[WatchUnit, str] = {}  # no room for these, and why
        self._failures = 0  # in a row

    def __len__(self) -> int:
        """Return how many units wait."""
        return len(self._until)

    def start(self, units: Iterable[WatchUnit]) -> None:
        """Note that units are looked at now."""
        for unit in units:
            self._crowded.pop(unit, None)

    def delay(self, seconds: Mapping[WatchUnit, float], now: float) -> None:
        """Let units wait for so many seconds."""
        self._until |= {unit: now + wait for unit, wait in seconds.items()}

    def crowd(self, reasons: Mapping[WatchUnit, str], now: float) -> None:
        """Let units wait for room, each for its reason; none tells that there was room for all."""
        self._crowded |= reasons
        self._failures = self._failures + bool(reasons) if self._crowded else 0
        if reasons and self._failures == 1:
            log.error("%s Trying again in %g s.", next(iter(reasons.values())), ROOM_PAUSE)
        self.delay(dict.fromkeys(reasons, ROOM_PAUSE), now)

    def due(self, now: float) -> list[WatchUnit]:
        """Return the units whose time has come; they wait no longer."""
        units = [unit for unit, until in self._until.items() if until <= now]
        for unit in units:
            del self._until[unit]
        return units

    @property
    def problem(self) -> Problem | None:
        """What cannot be published for lack of room, and when it is tried again."""
        if not self._crowded:
            return None
        next_try = (self._until[unit] for unit in self._crowded if unit in self._until)
        return Problem(
            next(iter(self._crowded.values())), self._failures, min(next_try, default=None)
        )
