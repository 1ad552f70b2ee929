"""Watch units, and how changing ones settle; pure, time is an argument."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import NamedTuple

from catalog.model.paths import is_archive, top_of_archive


class WatchUnit(NamedTuple):
    """Path that settles as one: an outermost skill folder, an archive, or an entry of a root."""

    root: str  # absolute path
    path: str  # relative to the root; "" is all of it

    def lies_in(self, other: "WatchUnit") -> bool:
        """Whether this is the other unit or a part of it."""
        return self == other or other in self.wholes()

    def wholes(self) -> Iterator["WatchUnit"]:
        """Yield every larger unit of which this one could be a part."""
        path = self.path
        while path:
            path = path.rpartition("/")[0]
            yield WatchUnit(self.root, path)


def changed_lately(changed_ns: int, now_ns: int, quiet: float) -> bool:
    """Return whether something changed less than `quiet` seconds ago by its own time stamp.

    A time stamp more than `quiet` seconds in the future comes from another clock and is ignored.
    """
    return abs(now_ns - changed_ns) < quiet * 1e9


def with_archives(units: Iterable[WatchUnit]) -> list[WatchUnit]:
    """Return the units, and for each archive file the unit of its contents (`x.zip!`).

    A path inside an archive becomes the unit of the whole archive.
    """
    result = []
    for unit in units:
        top = top_of_archive(unit.path)
        result.append(WatchUnit(unit.root, top) if top else unit)
        if unit.path and not top and is_archive(unit.path):
            result.append(WatchUnit(unit.root, f"{unit.path}!"))
    return result


def outermost(units: Sequence[WatchUnit]) -> list[WatchUnit]:
    """Return the units that lie in no other one, so that no folder is scanned twice."""
    distinct = dict.fromkeys(units)
    return [unit for unit in distinct if not any(whole in distinct for whole in unit.wholes())]


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
        """Return the time at which a unit is due if no more hints come."""
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
