"""Settling of folders that change: the ones quiet for long enough; pure, time is an argument."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from pipeline.roots.units import WatchUnit

GATHER = 0.03
"""Seconds for which what is due waits for what will be due in that time, to be looked at with it:
the two ends of a rename, say, of which the events told one after the other."""


@dataclass(frozen=True, slots=True)
class _Waiting:
    since: float
    last_hint: float
    last_look: float  # at first, since


class Settling:
    """Units with hints, from the first hint until they were looked at in peace.

    All times are seconds on one monotonic clock. A unit is due when no hint came for `quiet`
    seconds, and every `longest` seconds although hints come: it may be shown as pending then, for
    `overdue` tells that it waits for so long. It is never given up.
    """

    def __init__(self, quiet: float, longest: float) -> None:
        """Take the two settings in seconds."""
        self._quiet = quiet
        self._longest = longest
        self._waiting: dict[WatchUnit, _Waiting] = {}

    def hint(self, unit: WatchUnit, now: float) -> None:
        """Note that something may have changed in a unit."""
        waiting = self._waiting.get(unit) or _Waiting(now, now, now)
        self._waiting[unit] = replace(waiting, last_hint=now)

    def again(self, unit: WatchUnit, now: float) -> None:
        """Note that a unit was looked at and found to be changing."""
        self.hint(unit, now)
        self._waiting[unit] = replace(self._waiting[unit], last_look=now)

    def done(self, units: Iterable[WatchUnit]) -> None:
        """Forget units that were looked at in peace."""
        for unit in units:
            self._waiting.pop(unit, None)

    def due(self, now: float) -> list[WatchUnit]:
        """Return the units that were quiet, or have waited, for long enough, in order of hints."""
        if not self._waiting or now < self._next_moment():
            return []
        return [unit for unit, waiting in self._waiting.items() if self._moment(waiting) <= now]

    def overdue(self, unit: WatchUnit, now: float) -> float | None:
        """Return since when a unit waits, if that is longer than it should."""
        waiting = self._waiting.get(unit)
        if waiting and now - waiting.since >= self._longest:
            return waiting.since
        return None

    def seconds_to_next(self, now: float) -> float | None:
        """Return how long nothing will be due; None where nothing waits."""
        return max(0.0, self._next_moment() - now) if self._waiting else None

    def _next_moment(self) -> float:
        moments = [self._moment(waiting) for waiting in self._waiting.values()]
        end = min(moments) + GATHER
        return max(moment for moment in moments if moment <= end)

    def _moment(self, waiting: _Waiting) -> float:
        """Return when a unit is to be looked at, if no more hints come."""
        return min(waiting.last_hint + self._quiet, waiting.last_look + self._longest)

    def waiting(self) -> set[WatchUnit]:
        """Return all the units."""
        return set(self._waiting)

    def latest(self, root: str) -> float | None:
        """Return when the last hint in a root came; None where nothing in it waits."""
        return max(
            (waiting.last_hint for unit, waiting in self._waiting.items() if unit.root == root),
            default=None,
        )

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, unit: object) -> bool:
        return unit in self._waiting
