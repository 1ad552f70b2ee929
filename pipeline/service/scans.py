"""Scans of the loop: of everything batch by batch, and of the units that have settled."""

import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from catalog.database.requests import Request
from catalog.model.change import ChangeResult
from catalog.model.errors import OutOfRoom
from catalog.model.naming import qualified_name, skill_id
from catalog.model.trouble import Problem
from catalog.model.values import Trigger
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.roots.units import WatchUnit
from pipeline.service import pulls
from pipeline.service.listeners import TroubleLog
from pipeline.service.pending_units import PendingUnits
from pipeline.service.scanning.change_batches import Report, ScanPlan
from pipeline.service.scanning.engines import Engine, serial
from pipeline.service.scanning.scanner import place_of
from pipeline.service.scanning.synchronizer import FullScan, Synchronizer

_FINISHED = object()


class ScanRequest(NamedTuple):
    """Request for a scan of all roots, or of some units."""

    trigger: Trigger
    units: tuple[WatchUnit, ...] = ()  # empty for all roots
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
        self._trouble_log = TroubleLog()
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
        """Scan the units that have settled; return the lack of room for some of them.

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
        for (root, path), seconds, reason in self._units.overdue(report):
            place = place_of(roots[root], path)
            self._store.skills.set_pending(
                place,
                qualified_name(place.folder_name, place.namespace),
                skill_id(place.folder_name, place.namespace, path),
                datetime.now(UTC) - timedelta(seconds=seconds),
                reason or "still changing",
            )

    def write_row(self) -> None:
        """Store the results of the scan with those of the units that it found changing."""
        if isinstance(self._scan, FullScan):
            self._scan.write_row(self.report)

    def _log_troubles(self, report: Report) -> None:
        if self._is_polling:
            self._trouble_log.log(pulls.of_pulled(self._settings, report.troubles))

    def _begin(self, requests: Sequence[ScanRequest]) -> Iterator[None]:
        """Begin a scan that fulfils requests; only one by itself can be for some units."""
        self._store.skills.doubt([place for request in requests for place in request.doubted])
        if requests[0].units:
            self._scan = Synchronizer(self._plan("command"))
            return self._scan.run(requests[0].units)
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
        return (
            WatchUnit(change.root, change.path) in self._units
            or self.granted[0].trigger == "start"
            or any(
                request.trigger == "command" for request in self.granted
            )  # it distrusts the rows
            or not self._is_polling
            or self._is_polling()
            or change.root in self._mirrors  # no events announce what a pull brings
        )
