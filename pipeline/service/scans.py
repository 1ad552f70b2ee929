"""Scans of the loop: of everything batch by batch, and of the units that have settled."""

import logging
import os
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from catalog.database.requests import Request
from catalog.model import paths as model_paths
from catalog.model.change import ChangeResult
from catalog.model.errors import OutOfRoom, Problem
from catalog.model.naming import qualified_name, skill_id
from catalog.model.paths import archive_of
from catalog.model.skill import RootSpec
from catalog.model.values import Trigger
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.roots.ignore_files import NAMES as IGNORE_FILES
from pipeline.roots.local import walk
from pipeline.service import pulls
from pipeline.service.scanning.change_batches import Report, ScanPlan
from pipeline.service.scanning.engines import Engine, serial
from pipeline.service.scanning.scanner import place_of
from pipeline.service.scanning.synchronizer import FullScan, Synchronizer
from pipeline.watch.settling import Settling, WatchUnit

log = logging.getLogger("skilldrop")

ROOM_PAUSE = 30.0
"""Seconds until a unit is tried again whose change could not be stored."""


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
        # The monotonic time of the next scan, and the reason.
        self._delayed: dict[WatchUnit, tuple[float, str]] = {}
        self._failures = 0  # in a row

    def __len__(self) -> int:
        """Return the number of units that settle."""
        return len(self._settling)

    def __contains__(self, unit: WatchUnit) -> bool:
        """Return whether a unit settles."""
        return unit in self._settling

    @property
    def count(self) -> int:
        """The number of all waiting units."""
        return len(self._settling) + len(self._delayed)

    @property
    def problem(self) -> Problem | None:
        """Why changes were not stored, such as a full disk, and the time of the next try."""
        if not self._delayed:
            return None
        until, reason = min(self._delayed.values())
        return Problem(reason, self._failures, until)

    def waiting(self) -> set[WatchUnit]:
        """Return the units that settle."""
        return self._settling.waiting()

    def seconds_to_next(self, now: float) -> float:
        """Return the seconds until a unit is due; infinite if none waits."""
        waits = (until - now for until, _ in self._delayed.values())
        return max(0.0, min([self._settling.seconds_to_next(now), *waits]))

    def seconds_overdue(self, place: WatchUnit) -> float | None:
        """Return the seconds that a folder has been changing, if that is too long; else None."""
        now = time.monotonic()
        since = self._settling.overdue(self._unit_of(place), now)
        return None if since is None else now - since

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
        again = (unit for unit, (until, _) in self._delayed.items() if until <= now)
        units = list(dict.fromkeys([*self._settling.due(now), *again]))
        for unit in units:
            if self._delayed.pop(unit, None):
                self._settling.hint(unit, now)  # it waits here if the scan fails
        return units

    def still_settling(self, due: Collection[WatchUnit], now: float) -> Collection[WatchUnit]:
        """Return the other units that settle; none if a due unit has waited too long for them."""
        if any(self._settling.overdue(unit, now) for unit in due):
            return ()
        return self._settling.waiting() - set(due)

    def scanned(self, due: Collection[WatchUnit], report: Report) -> None:
        """Note the results of a scan of due units."""
        again = set(map(self._unit_of, report.unsettled))
        again |= {unit for unit in due if unit.root in report.troubles}
        postponed = self._note(report)
        self._settling.done(unit for unit in due if unit not in again | postponed)
        self._settle_again(again)

    def scanned_all(self, report: Report, superseded: Collection[WatchUnit]) -> set[WatchUnit]:
        """Note the results of a full scan; return the units that are scanned again after it."""
        postponed = self._note(report)
        again = {*map(self._unit_of, report.unsettled), *superseded, *postponed}
        self._settle_again(again)
        return again

    def _note(self, report: Report) -> set[WatchUnit]:
        """Delay units, and return those that are missing while more of their root may be.

        These wait for the later events of their root.
        """
        until = time.monotonic() + ROOM_PAUSE
        self._delayed |= {
            self._unit_of(place): (until, reason) for place, reason in report.delayed.items()
        }
        self._failures = self._failures + bool(report.delayed) if self._delayed else 0
        if report.delayed and self._failures == 1:
            log.error("%s Trying again in %g s.", next(iter(report.delayed.values())), ROOM_PAUSE)
        postponed = set(map(self._unit_of, report.postponed))
        for unit in postponed:
            self._settling.hint(unit, self._settling.latest(unit.root) or time.monotonic())
        return postponed

    def _settle_again(self, units: Iterable[WatchUnit]) -> None:
        for unit in units:
            self._settling.again(unit, time.monotonic())


def _unit_of(place: WatchUnit) -> WatchUnit:
    """Return the unit in which a folder settles; for a folder in an archive, the archive."""
    path = archive_of(place.path) or place.path
    unit = walk.unit_of(place.root, model_paths.os_path(f"{place.root}/{path}"))
    return WatchUnit(place.root, unit or path)


_FINISHED = object()


class ScanRequest(NamedTuple):
    """Request for a scan of all roots."""

    trigger: Trigger
    is_deep: bool = False  # every file is read and hashed, even in unchanged folders
    accepts_removals: bool = False
    doubted: tuple[WatchUnit, ...] = ()  # folders whose stored state is discarded
    is_poll: bool = False  # polls are frequent: only their findings are recorded
    asked: Request | None = None  # by a command that waits for an answer


class Scans:
    """The running scan, the requests for the next one, and the scans of settled units.

    One scan runs at a time, one batch per step.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        units: PendingUnits,
        *,
        engine: Engine,
        is_polling: Callable[[], bool] | None,
    ) -> None:
        """Take the units that wait, and whether changes are polled; None if nothing is watched.

        Then the scans of settled units belong to the scan that found them, and a lack of room
        raises OutOfRoom.
        """
        self._settings = settings
        self._store = store
        self._units = units
        self._engine = engine
        self._is_polling = is_polling
        self._mirrors = {root.path for root in settings.root_specs if root.origin}
        self._logged: set[str] = set()  # troubles of roots
        self._requested: list[ScanRequest] = []
        self._scan: Synchronizer | None = None
        self._steps: Iterator[None] | None = None
        self.granted: Sequence[ScanRequest] = ()
        """Requests that the running or the last scan fulfils."""
        self.superseded: set[WatchUnit] = set()
        """Units scanned separately since the scan began, which may have read older content."""
        self.report = Report()
        """Results of the running or the last scan, with those of the units it found changing."""

    @property
    def is_running(self) -> bool:
        """Whether a scan is running."""
        return self._steps is not None

    @property
    def is_wanted(self) -> bool:
        """Whether a scan is running or requested."""
        return self.is_running or bool(self._requested)

    def request(self, request: ScanRequest) -> None:
        """Request a scan that begins after this call; one scan fulfils all waiting requests."""
        self._requested.append(request)

    def step(self) -> bool:
        """Run one batch of the running or the next scan; return whether it has ended.

        A scan that fails is requested again, without its repairs. Raises SkilldropError and
        MemoryError.
        """
        try:
            if self._steps is None:
                self.granted = tuple(self._requested)
                self._steps = self._begin(self.granted)
                self._requested.clear()
            assert self._scan
            has_ended = next(self._steps, _FINISHED) is _FINISHED
        except BaseException:
            if self._steps is None:
                self._requested.clear()
            self._steps = None
            self.request(ScanRequest("re-scan"))
            raise
        self.report = self._scan.report
        self._log_troubles(self.report)
        if has_ended:
            self._steps = None
        return has_ended

    def stop(self) -> None:
        """Abandon the running scan: the catalog is consistent after each batch."""
        if isinstance(self._steps, Generator):
            self._steps.close()
        self._steps = None
        self._requested = [request for request in self._requested if not request.asked]

    def scan_settled(self, must_stop: Callable[[], bool]) -> Problem | None:
        """Scan the units that have settled; return why changes of some were not stored.

        The scan ends after a batch if `must_stop`; the units then wait for the next start.
        """
        now = time.monotonic()
        due = self._units.due(now)
        if not due:
            return self._units.problem
        scan = Synchronizer(self._plan_of_settled(due, now))
        try:
            with suppress(*([OutOfRoom] if self._is_polling else [])):  # others must not wait
                for _ in scan.run(due):
                    if must_stop():
                        return None
            self._units.scanned(due, scan.report)
            if self.is_running:
                self.superseded |= set(due)
            self.show_pending(scan.report)
            if not self._is_polling:
                self.report = self.report.followed_by(scan.report, due)
        finally:
            self._log_troubles(scan.report)
        return self._units.problem

    def show_pending(self, report: Report) -> None:
        """Mark the folders that take too long to settle, or cannot be read, as pending."""
        roots = {root.path: root for root in self._settings.root_specs}
        for unit in report.unsettled:
            seconds, reason = self._units.seconds_overdue(unit), report.failures.get(unit)
            if seconds is None and not reason:
                continue
            place = place_of(roots[unit.root], unit.path)
            self._store.skills.set_pending(
                place,
                qualified_name(place.folder_name, place.namespace),
                skill_id(place.folder_name, place.namespace, unit.path),
                datetime.now(UTC) - timedelta(seconds=seconds or 0.0),
                reason or "still changing",
            )

    def write_row(self) -> None:
        """Store the results of the scan with those of the units that it found changing."""
        if isinstance(self._scan, FullScan):
            self._scan.write_row(self.report)

    def _log_troubles(self, report: Report) -> None:
        """Log the roots that cannot be read, each once until it can be."""
        if self._is_polling:
            troubles = set(pulls.of_pulled(self._settings, report.troubles))
            for trouble in sorted(troubles - self._logged):
                log.warning("%s", trouble)
            self._logged = troubles

    def _begin(self, requests: Sequence[ScanRequest]) -> Iterator[None]:
        """Begin a scan that fulfils requests."""
        self._store.skills.doubt([place for request in requests for place in request.doubted])
        plan = replace(
            self._plan(requests[0].trigger),
            accepts_removals=any(request.accepts_removals for request in requests),
            was_announced=self._was_announced,
            still_settling=self._units.waiting(),
        )
        self._scan = scan = FullScan(plan, is_poll=all(request.is_poll for request in requests))
        return scan.run_all()

    def _plan_of_settled(self, due: Collection[WatchUnit], now: float) -> ScanPlan:
        """Return the plan of a scan of settled units, as a part of the command's scan or apart."""
        if not self._is_polling:
            scan_id = self._scan.plan.scan_id if self._scan else None
            return replace(self._plan("command"), scan_id=scan_id)
        settling = self._units.still_settling(due, now)
        return replace(self._plan("event"), engine=serial, deep=False, still_settling=settling)

    def _plan(self, trigger: Trigger) -> ScanPlan:
        return ScanPlan(
            store=self._store,
            roots=self._settings.root_specs,
            limits=self._settings.limits,
            quiet=self._settings.settle_quiet,
            trigger=trigger,
            engine=self._engine,
            deep=any(request.is_deep for request in self.granted),
        )

    def _was_announced(self, change: ChangeResult) -> bool:
        """Return whether events announced a change before a re-scan found it.

        Changes from before the watch began could not be announced, and do not count as missed.
        """
        place = WatchUnit(change.root, archive_of(change.path) or change.path)
        return (
            any(unit in self._units or unit in self.superseded for unit in (place, *place.wholes()))
            or self.granted[0].trigger == "start"
            # A command distrusts the rows.
            or any(request.trigger == "command" for request in self.granted)
            or not self._is_polling
            or self._is_polling()
            or change.root in self._mirrors  # no events announce what a pull brings
        )
