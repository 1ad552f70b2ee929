"""Backlog of units that wait for disk space or for the limit of versions per hour."""

import logging
from collections.abc import Iterable, Mapping

from catalog.model.trouble import Problem
from pipeline.roots.units import WatchUnit

log = logging.getLogger("skilldrop")

ROOM_PAUSE = 30.0
"""Seconds until a unit is tried again after the disk was full."""


class Backlog:
    """Units to be scanned again at a given time of the monotonic clock."""

    def __init__(self) -> None:
        self._until: dict[WatchUnit, float] = {}
        self._without_room: dict[WatchUnit, str] = {}  # the reason for each
        self._failures = 0  # in a row

    def __len__(self) -> int:
        """Return the number of waiting units."""
        return len(self._until)

    def start(self, units: Iterable[WatchUnit]) -> None:
        """Note that units are being scanned now."""
        for unit in units:
            self._without_room.pop(unit, None)

    def delay(self, seconds: Mapping[WatchUnit, float], now: float) -> None:
        """Make each unit wait for its number of seconds."""
        self._until |= {unit: now + wait for unit, wait in seconds.items()}

    def wait_for_room(self, reasons: Mapping[WatchUnit, str], now: float) -> None:
        """Make units wait for disk space; `reasons` is empty if all units found room."""
        self._without_room |= reasons
        self._failures = self._failures + bool(reasons) if self._without_room else 0
        if reasons and self._failures == 1:
            log.error("%s Trying again in %g s.", next(iter(reasons.values())), ROOM_PAUSE)
        self.delay(dict.fromkeys(reasons, ROOM_PAUSE), now)

    def due(self, now: float) -> list[WatchUnit]:
        """Remove and return the units whose time has come."""
        units = [unit for unit, until in self._until.items() if until <= now]
        for unit in units:
            del self._until[unit]
        return units

    @property
    def problem(self) -> Problem | None:
        """Lack of disk space, and the time of the next try; None if there is room."""
        if not self._without_room:
            return None
        tries = [self._until[unit] for unit in self._without_room if unit in self._until]
        reason = next(iter(self._without_room.values()))
        return Problem(reason, self._failures, min(tries, default=None))
