"""Scans of the service: of the units that have settled, and full scans batch by batch."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta

from catalog.model.change import ChangeResult
from catalog.model.errors import OutOfRoom
from catalog.model.trouble import Problem
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.roots.units import WatchUnit
from pipeline.service import pulls
from pipeline.service.change_log import TroubleLog
from pipeline.service.pending_units import PendingUnits
from pipeline.service.scan_queue import ScanQueue, ScanRequest
from pipeline.service.scanning.change_batches import Report
from pipeline.service.scanning.engines import processes
from pipeline.service.scanning.full_scan import FullScan, show_pending
from pipeline.service.scanning.synchronizer import Synchronizer
from pipeline.watch.supervisor import WatchSupervisor


class Scans:
    """Maker of scans; the units that wait, and the watch, belong to the service."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        units: PendingUnits,
        supervisor: WatchSupervisor,
    ) -> None:
        self._settings = settings
        self._store = store
        self._units = units
        self._supervisor = supervisor
        self._roots = settings.root_specs
        self._mirrors = {root.path for root in self._roots if root.origin}
        self._limits = settings.limits
        self._trouble_log = TroubleLog()
        self.queue = ScanQueue(self._new_scan)
        """The running full scan, and the requests for the next one."""

    def use(self, store: Store) -> None:
        """Continue with the catalog that replaces a lost one."""
        self._store = store

    def scan_settled(self, must_stop: Callable[[], bool]) -> Problem | None:
        """Scan the units that have settled; return the lack of room for some of them.

        The scan ends after a batch if `must_stop`; the units then wait for the next start.
        """
        now = time.monotonic()
        due = self._units.due(now)
        if not due:
            return self._units.problem
        work = Synchronizer(
            self._store,
            self._roots,
            self._limits,
            trigger="event",
            quiet=self._settings.settle_quiet,
            still_settling=self._units.still_settling(due, now),
        )
        try:
            with suppress(OutOfRoom):  # the other units must not wait for it
                for _ in work.run(due):
                    if must_stop():
                        return None
            self._units.scanned(due, work.report)
            if self.queue.is_running:
                self.queue.superseded |= set(due)
            self.show_pending(work.report)
        finally:
            self._log_troubles(work.report)
        return self._units.problem

    def step(self) -> Report | None:
        """Run one batch of the running or the next full scan; return its report once it has ended.

        Raises SkilldropError and MemoryError.
        """
        scan, has_ended = self.queue.step()
        report = scan.report
        self._log_troubles(report)
        return report if has_ended else None

    def show_pending(self, report: Report) -> None:
        """Mark the folders that take too long to settle as pending."""
        for overdue in self._units.overdue(report):
            since = datetime.now(UTC) - timedelta(seconds=overdue.seconds)
            show_pending(self._store, self._roots, overdue.place, since, overdue.reason)

    def _log_troubles(self, report: Report) -> None:
        self._trouble_log.log(pulls.of_pulled(self._settings, report.troubles))

    def _new_scan(self, requests: Sequence[ScanRequest]) -> FullScan:
        repairs = [request.repair for request in requests if request.repair]
        self._store.skills.doubt([place for repair in repairs for place in repair.doubted])
        return FullScan(
            self._store,
            self._roots,
            self._limits,
            trigger=requests[0].trigger,
            quiet=self._settings.settle_quiet,
            engine=processes,
            deep=any(repair.is_deep for repair in repairs),
            is_poll=all(request.is_poll for request in requests),
            accepts_removals=any(repair.accepts_removals for repair in repairs),
            was_announced=self._was_announced,
            still_settling=self._units.waiting(),
        )

    def _was_announced(self, change: ChangeResult) -> bool:
        """Return whether events announced a change before a re-scan found it.

        Changes from before the watch began could not be announced, and do not count as missed.
        """
        return (
            WatchUnit(change.root, change.path) in self._units
            or self.queue.granted[0].trigger == "start"
            or bool(self.queue.repairs)  # the scan distrusts the stored state on request
            or self._supervisor.mode == "polling"
            or change.root in self._mirrors  # no events announce what a pull brings
        )
