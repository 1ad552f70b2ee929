"""Settling of changing folders until they are quiet; pure, time is an argument."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf

from pipeline.roots.units import WatchUnit

GATHER = 0.03
"""Seconds for which due units wait for others that become due, to be scanned with them: the two
ends of a rename, for example, whose events come one after the other."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    since: float
    last_hint: float
    last_scan: float  # at first, since


class Settling:
    """Units with hints, from the first hint until a scan found them unchanging.

    All times are seconds on one monotonic clock. A unit is due when no hint came for `quiet`
    seconds, and every `longest` seconds even if hints come: `overdue` then reports it, so that it
    can be shown as pending. No unit is ever dropped.
    """

    def __init__(self, quiet: float, longest: float) -> None:
        """Take both settings in seconds."""
        self._quiet = quiet
        self._longest = longest
        self._waiting: dict[WatchUnit, _Waiting] = {}

    def hint(self, unit: WatchUnit, now: float) -> None:
        """Record that something may have changed in a unit, now or a moment ago."""
        waiting = self._waiting.get(unit) or _Waiting(now, now, now)
        self._waiting[unit] = replace(waiting, last_hint=max(now, waiting.last_hint))

    def again(self, unit: WatchUnit, now: float) -> None:
        """Record that a scan found a unit still changing."""
        self.hint(unit, now)
        self._waiting[unit] = replace(self._waiting[unit], last_scan=now)

    def done(self, units: Iterable[WatchUnit]) -> None:
        """Forget units that a scan found unchanging."""
        for unit in units:
            self._waiting.pop(unit, None)

    def due(self, now: float) -> list[WatchUnit]:
        """Return the units that were quiet or have waited long enough, in order of first hints."""
        if now < self._next_due():
            return []
        return [unit for unit, waiting in self._waiting.items() if self._due_at(waiting) <= now]

    def overdue(self, unit: WatchUnit, now: float) -> float | None:
        """Return since when a unit waits, if that is longer than `longest`; else None."""
        waiting = self._waiting.get(unit)
        if waiting and now - waiting.since >= self._longest:
            return waiting.since
        return None

    def seconds_to_next(self, now: float) -> float:
        """Return the seconds until the next unit is due; infinite if no unit waits."""
        return max(0.0, self._next_due() - now)

    def _next_due(self) -> float:
        times = [self._due_at(waiting) for waiting in self._waiting.values()]
        end = min(times, default=0.0) + GATHER
        return max((time for time in times if time <= end), default=inf)

    def _due_at(self, waiting: _Waiting) -> float:
        """Return when a unit is due if no more hints come."""
        return min(waiting.last_hint + self._quiet, waiting.last_scan + self._longest)

    def waiting(self) -> set[WatchUnit]:
        """Return all units."""
        return set(self._waiting)

    def latest(self, root: str) -> float | None:
        """Return the time of the last hint in a root; None if no unit of it waits."""
        return max(
            (waiting.last_hint for unit, waiting in self._waiting.items() if unit.root == root),
            default=None,
        )

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, unit: object) -> bool:
        return unit in self._waiting
