"""Units that wait to be scanned: until they settle, or until there is room or the rate allows."""

import logging
import os
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeVar

from catalog.model import paths as model_paths
from catalog.model.paths import archive_of
from catalog.model.skill import RootSpec
from catalog.model.trouble import Problem
from pipeline.roots.ignore_files import NAMES as IGNORE_FILES
from pipeline.roots.local import walk
from pipeline.roots.units import WatchUnit
from pipeline.service.scanning.change_batches import Report
from pipeline.watch.settling import Settling

log = logging.getLogger("skilldrop")

ROOM_PAUSE = 30.0
"""Seconds until a unit is tried again after the disk was full."""

T = TypeVar("T")


class Overdue(NamedTuple):
    """A folder that takes too long to settle, or cannot be read."""

    place: WatchUnit
    seconds: float  # since it began to change
    reason: str | None


class PendingUnits:
    """The units of all roots that are due for a scan, and those that are not due yet."""

    def __init__(
        self, roots: Sequence[RootSpec], quiet: float, longest: float, *, exact: bool = False
    ) -> None:
        """Take the roots, and the settling times in seconds.

        With `exact`, each folder is a unit of its own, as no events may follow for those around it.
        """
        self._roots = roots
        self._unit_of = (lambda place: place) if exact else _unit_of
        self._settling = Settling(quiet, longest)
        self._delayed: dict[WatchUnit, float] = {}  # monotonic time of the next scan
        self._without_room: dict[WatchUnit, str] = {}  # the reason for each
        self._failures = 0  # for lack of room, in a row

    def __len__(self) -> int:
        """Return the number of units that settle."""
        return len(self._settling)

    def __contains__(self, place: WatchUnit) -> bool:
        """Return whether the unit of a folder settles."""
        return self._unit_of(place) in self._settling

    @property
    def count(self) -> int:
        """The number of all waiting units."""
        return len(self._settling) + len(self._delayed)

    @property
    def problem(self) -> Problem | None:
        """Lack of disk space, and the time of the next try; None if there is room."""
        if not self._without_room:
            return None
        tries = [self._delayed[unit] for unit in self._without_room if unit in self._delayed]
        reason = next(iter(self._without_room.values()))
        return Problem(reason, self._failures, min(tries, default=None))

    def waiting(self) -> set[WatchUnit]:
        """Return the units that settle."""
        return self._settling.waiting()

    def seconds_to_next(self, now: float) -> float:
        """Return the seconds until a unit is due; infinite if none waits."""
        waits = (until - now for until in self._delayed.values())
        return max(0.0, min([self._settling.seconds_to_next(now), *waits]))

    def is_overdue(self, place: WatchUnit) -> bool:
        """Return whether the unit of a folder takes too long to settle."""
        return self._settling.overdue(self._unit_of(place), time.monotonic()) is not None

    # Hints

    def hint(self, path: str, now: float) -> bool:
        """Note that something may have changed at a path; return whether it lies in a root."""
        units = [
            WatchUnit(root.path, below)
            for root in self._roots
            if path
            and (below := walk.unit_of(root.path, path)) is not None
            # A hint for the root itself means a new or removed entry, which has its own hint.
            and (below or os.path.basename(path) in IGNORE_FILES)
        ]
        for unit in units:
            self._settling.hint(unit, now)
        return bool(units)

    def scan_again(self, places: Iterable[tuple[str, str]]) -> None:
        """Let the units of folders, (root, path), be scanned once more."""
        for root, path in places:
            self._settling.hint(self._unit_of(WatchUnit(root, path)), time.monotonic())

    # Scans

    def due(self, now: float) -> list[WatchUnit]:
        """Return the units that are settled, to be scanned now."""
        for unit in [unit for unit, until in self._delayed.items() if until <= now]:
            del self._delayed[unit]
            self._settling.hint(unit, now)
        units = self._settling.due(now)
        for unit in units:
            self._without_room.pop(unit, None)
        return units

    def still_settling(self, due: Collection[WatchUnit], now: float) -> Collection[WatchUnit]:
        """Return the other units that settle; none if a due unit has waited too long for them."""
        if any(self._settling.overdue(unit, now) for unit in due):
            return ()
        return self._settling.waiting() - set(due)

    def scanned(self, due: Collection[WatchUnit], report: Report) -> None:
        """Note the results of a scan of due units."""
        no_room = self._by_unit(report.no_room)
        self._without_room |= no_room
        self._failures = self._failures + bool(no_room) if self._without_room else 0
        if no_room and self._failures == 1:
            log.error("%s Trying again in %g s.", next(iter(no_room.values())), ROOM_PAUSE)
        self._delay(dict.fromkeys(no_room, ROOM_PAUSE))
        again = set(map(self._unit_of, report.unsettled))
        again |= {unit for unit in due if unit.root in report.troubles}
        postponed = self._note(report)
        self._settling.done(unit for unit in due if unit not in again | postponed)
        self._settle_again(again)

    def scanned_all(self, report: Report, superseded: Collection[WatchUnit]) -> set[WatchUnit]:
        """Note the results of a full scan; return the units that are scanned again after it."""
        self._note(report)
        again = {*map(self._unit_of, report.unsettled), *superseded}
        self._settle_again(again)
        return again

    def overdue(self, report: Report) -> Iterator[Overdue]:
        """Yield the unsettled folders of a report that should be shown as pending."""
        now = time.monotonic()
        for place in report.unsettled:
            since = self._settling.overdue(self._unit_of(place), now)
            reason = report.failures.get(place)
            if since is not None or reason:
                yield Overdue(place, now - (since or now), reason)

    def _note(self, report: Report) -> set[WatchUnit]:
        """Delay units, and return those that are missing while more of their root may be.

        These wait for the later events of their root.
        """
        self._delay(self._by_unit(report.delayed))
        postponed = set(map(self._unit_of, report.postponed))
        for unit in postponed:
            self._settling.hint(unit, self._settling.latest(unit.root) or time.monotonic())
        return postponed

    def _delay(self, seconds: Mapping[WatchUnit, float]) -> None:
        now = time.monotonic()
        self._delayed |= {unit: now + wait for unit, wait in seconds.items()}

    def _settle_again(self, units: Iterable[WatchUnit]) -> None:
        for unit in units:
            self._settling.again(unit, time.monotonic())

    def _by_unit(self, values: Mapping[WatchUnit, T]) -> dict[WatchUnit, T]:
        """Map values of folders to the units in which the folders settle."""
        return {self._unit_of(place): value for place, value in values.items()}


def _unit_of(place: WatchUnit) -> WatchUnit:
    """Return the unit in which a folder settles; for a folder in an archive, the archive."""
    path = archive_of(place.path) or place.path
    unit = walk.unit_of(place.root, model_paths.os_path(f"{place.root}/{path}"))
    return WatchUnit(place.root, unit or path)
