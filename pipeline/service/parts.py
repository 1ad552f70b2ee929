"""Parts of the loop: when each is due, and those that every loop has, from scans to indexes."""

import logging
import math
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from queue import Empty, SimpleQueue
from typing import NamedTuple

from catalog.database.connection import explained
from catalog.model.trouble import Problem
from catalog.text import humanize
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.outcomes.inbox import OutcomeInbox
from pipeline.roots.units import WatchUnit
from pipeline.service import change_log, hook_queue, open_catalog
from pipeline.service.hook_queue import HookQueue
from pipeline.service.pending_units import PendingUnits
from pipeline.service.publication import Publication
from pipeline.service.pulls import Pulls
from pipeline.service.scanning.engines import Engine
from pipeline.service.scanning.synchronizer import can_list_all
from pipeline.service.scans import ScanRequest, Scans

log = logging.getLogger("skilldrop")

LONGEST_WAIT = 1.0
"""Seconds after which the loop turns, whatever is due."""
NEVER = math.inf


class Part(NamedTuple):
    """Part of the work of a loop."""

    name: str
    due: Callable[[float], float | None]
    """Returns the seconds until the next step, at a time of the monotonic clock.

    None means each turn of the loop, whose turns other parts cause.
    """
    step: Callable[[], Problem | None]
    longest: float | None = None
    """Longest pause in seconds before a failed step is repeated."""


def each_turn(_: float) -> None:
    """Make a part due at each turn."""


def at_once(is_due: bool) -> float:
    """Return the seconds until a part that may be due now."""
    return 0.0 if is_due else NEVER


def every(
    name: str, seconds: float, step: Callable[[], Problem | None], longest: float | None = None
) -> Part:
    """Return a part that is due now and then at intervals."""
    next_at = 0.0

    def due(now: float) -> float:
        return max(0.0, next_at - now)

    def stepped() -> Problem | None:
        nonlocal next_at
        next_at = time.monotonic() + seconds
        return step()

    return Part(name, due, stepped, longest)


class Loop:
    """Thread that steps parts as they become due; other threads only hand over calls to it."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], object]] = SimpleQueue()

    def call(self, function: Callable[[], object]) -> None:
        """Let the loop call a function; from any thread or signal handler."""
        self._calls.put(function)

    def wake(self) -> None:
        """Let the loop turn now; from any thread or signal handler."""
        self.call(lambda: None)

    def run(
        self,
        parts: Callable[[], Iterable[Part]],
        step: Callable[[Part], object],
        until: Callable[[], bool],
        pause: Callable[[Part, float], float] = lambda _, __: 0.0,
    ) -> None:
        """Turn `until` it returns True; `pause` returns the seconds until a part may be tried."""
        while not until():
            now = time.monotonic()
            waits = [
                max(wait, pause(part, now))
                for part in parts()
                if (wait := part.due(now)) is not None
            ]
            self._take_calls(min([LONGEST_WAIT, *waits]))
            for part in parts():
                wait = part.due(time.monotonic())
                if wait is None or wait <= 0.0:
                    step(part)

    def _take_calls(self, seconds: float) -> None:
        """Wait for a call, some seconds at most, and make all there are."""
        try:
            self._calls.get(timeout=max(0.0, seconds))()
        except Empty:
            return
        for _ in range(self._calls.qsize()):
            self._calls.get_nowait()()


class Work:
    """The parts that bring one catalog up to its roots, publish it, and tell others of changes."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        loop: Loop,
        *,
        engine: Engine,
        is_polling: Callable[[], bool] | None = None,
        must_stop: Callable[[], bool] = lambda: False,
        scanned: Callable[[Collection[WatchUnit] | None], object] = lambda _: None,
        failed: Callable[[Exception], object] = lambda _: None,
    ) -> None:
        """Take the open catalog and the loop that the parts are for.

        `is_polling` is None in a loop that ends when it is quiet, and publishes once at its end.
        `scanned` is called after each batch of a scan, with None; at its end with the units that
        are scanned again. `failed` is called with the error of a scan.
        """
        self.settings = settings
        self.store = store
        self._is_following = is_polling is not None
        self._must_stop = must_stop
        self._scanned = scanned
        self._failed = failed
        self.units = PendingUnits(
            settings.root_specs,
            settings.settle_quiet,
            settings.settle_longest,
            exact=not self._is_following,
        )
        self.scans = Scans(settings, store, self.units, engine=engine, is_polling=is_polling)
        self.outcomes = OutcomeInbox(
            settings.outcomes_folder, settings.settle_quiet, settings.settle_longest
        )
        self.takes_all_outcomes = False
        self.pulls = Pulls(settings, store, loop.wake)
        self.hooks = [HookQueue(hook, loop.wake) for hook in settings.hooks]
        self.publication = Publication(settings, store)
        self.collects = False
        """Whether expired packages and rows are to be removed."""

    def parts(self) -> Iterator[Part]:
        """Yield the parts, in the order of their steps."""
        yield Part("collect", lambda _: at_once(self.collects), self.collect)
        yield Part(
            "changes",
            self._seconds_to_changes,
            partial(self.scans.scan_settled, self._must_stop),
        )
        yield Part("outcomes", self._seconds_to_outcomes, self._take_outcomes)
        yield Part("pull", self._seconds_to_pull, self._take_pulls)
        yield Part("scan", lambda _: at_once(self.scans.is_wanted), self._scan)
        for name, listener in {
            open_catalog.LOG: change_log.log_changes,
            open_catalog.INDEXES: self.publication.changed,
        }.items():
            deliver = partial(self.store.events.deliver, name, listener)
            yield Part(f"events-{name}", each_turn, deliver)
        for queue in self.hooks:
            yield Part(queue.hook.listener, each_turn, partial(queue.step, self.store))
        yield Part("indexes", self._seconds_to_indexes, self.publication.step)

    @property
    def has_settled(self) -> bool:
        """Whether no scan is wanted, and the folders that changed are scanned or take too long."""
        return not self.scans.is_wanted and all(
            map(self.units.is_overdue, self.scans.report.unsettled)
        )

    @property
    def is_done(self) -> bool:
        """Whether all is scanned and published, and the hooks are told."""
        return (
            self.has_settled
            and not self.takes_all_outcomes
            and self.publication.due is None
            and not any(queue.is_sending for queue in self.hooks)
        )

    def finish(self) -> None:
        """Do what follows the scan of a command, once all is quiet."""
        scans = self.scans
        scans.show_pending(scans.report)
        if scans.granted[0].units:
            return
        if not scans.report.unsettled and can_list_all(self.settings.root_specs):
            for _ in self.store.repair.end_takeover(datetime.now(UTC)):
                pass
        scans.write_row()
        self.collect()

    def stop(self) -> None:
        """End what runs in other threads and processes."""
        self.pulls.stop()
        self.scans.stop()
        with suppress(sqlite3.Error):  # the catalog may be locked, full or closed
            hook_queue.stop_all(self.hooks, self.store)

    def _seconds_to_changes(self, now: float) -> float:
        wait = self.units.seconds_to_next(now)
        return NEVER if wait is None else wait

    def _seconds_to_outcomes(self, now: float) -> float:
        if self.takes_all_outcomes:
            return 0.0
        wait = self.outcomes.seconds_to_next(now) if self._is_following else None
        return NEVER if wait is None else wait

    def _seconds_to_pull(self, _: float) -> float:
        return at_once(self.pulls.have_ended and not self.scans.is_running)

    def _seconds_to_indexes(self, now: float) -> float:
        due = self.publication.due
        if due is None or not (self._is_following or self.has_settled):
            return NEVER
        return max(0.0, due - now) if self._is_following else 0.0

    def _take_outcomes(self) -> None:
        take = self.outcomes.take_all if self.takes_all_outcomes else self.outcomes.take_due
        change_log.log_outcomes(take(self.store, time.monotonic(), time.time_ns()))
        self.takes_all_outcomes = False

    def _take_pulls(self) -> None:
        before = dict(self.pulls.failures)
        if self.pulls.finish() and self._is_following:
            self.scans.request(ScanRequest("re-scan"))
        for root, failure in self.pulls.failures.items():
            if self._is_following and before.get(root) != failure:
                log.error("%s The last state stays.", failure)

    def _scan(self) -> None:
        """Run one batch of the running or the next requested scan."""
        try:
            with explained(self.settings.catalog_path):
                has_ended = self.scans.step()
        except Exception as error:
            self._failed(error)
            raise
        if not has_ended:
            self._scanned(None)
            return
        # The scan may have read the superseded units earlier and stored them later.
        again = self.units.scanned_all(self.scans.report, self.scans.superseded)
        self.scans.superseded.clear()
        self.publication.publish_now()  # index files may be lost or damaged
        self.takes_all_outcomes = not self.scans.granted[0].units
        self._scanned(again)
        self.scans.show_pending(self.scans.report)

    def collect(self) -> None:
        """Remove packages and rows of versions that need not be kept."""
        retention = self.settings.retention
        try:
            if removed := self.store.collect(retention, datetime.now(UTC)):
                log.info("removed %s of superseded versions", humanize.count(removed, "package"))
        finally:  # even if a package could not be removed
            if removed := self.store.thin(retention, datetime.now(UTC)):
                log.info("removed the rows of %s", humanize.count(removed, "old version"))
        self.collects = False
