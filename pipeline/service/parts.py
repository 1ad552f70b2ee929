"""Parts of the loop: when each is due, and those that every loop has, from scans to indexes."""

import logging
import math
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from queue import Empty, SimpleQueue
from typing import NamedTuple

from catalog.database.connection import explained
from catalog.model.change import Event
from catalog.model.errors import Problem
from catalog.text import humanize
from catalog.writing import routing
from catalog.writing.packages.builder import Key
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.outcomes.collect import OutcomeInbox
from pipeline.service import listeners, open_catalog
from pipeline.service.listeners import HookQueue
from pipeline.service.pulls import Pulls
from pipeline.service.scanning.engines import Engine
from pipeline.service.scanning.synchronizer import can_list_all
from pipeline.service.scans import PendingUnits, ScanRequest, Scans
from pipeline.watch.settling import WatchUnit

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

    def stepped() -> Problem | None:
        nonlocal next_at
        next_at = time.monotonic() + seconds
        return step()

    return Part(name, lambda now: max(0.0, next_at - now), stepped, longest)


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
        scanned: Callable[[Collection[WatchUnit]], object] = lambda _: None,
        failed: Callable[[Exception], object] = lambda _: None,
    ) -> None:
        """Take the open catalog and the loop that the parts are for.

        `is_polling` is None in a loop that ends when it is quiet, and publishes once at its end.
        `scanned` is called at the end of a scan, with the units that are scanned again; `failed` is
        called with the error of a scan.
        """
        self.settings = settings
        self.store = store
        self._is_following = is_polling is not None
        self._must_stop = must_stop
        self._scanned = scanned
        self._failed = failed
        times = settings.settle_quiet, settings.settle_longest
        self.units = PendingUnits(settings.root_specs, *times, exact=not self._is_following)
        self.scans = Scans(settings, store, self.units, engine=engine, is_polling=is_polling)
        self.outcomes = OutcomeInbox(settings.outcomes_folder, *times)
        self.takes_all_outcomes = False
        self.pulls = Pulls(settings, store, loop.wake)
        self.hooks = [
            HookQueue(hook, loop.wake, settings.site.url or "") for hook in settings.hooks
        ]
        self.publication = Publication(settings, store)

    def parts(self) -> Iterator[Part]:
        """Yield the parts, in the order of their steps."""
        scans, events = self.scans, self.store.events
        yield Part(
            "changes", self.units.seconds_to_next, partial(scans.scan_settled, self._must_stop)
        )
        yield Part("outcomes", self._seconds_to_outcomes, self._take_outcomes)
        yield Part(
            "pull",
            lambda _: at_once(self.pulls.have_ended and not scans.is_running),
            self._take_pulls,
        )
        yield Part("scan", lambda _: at_once(scans.is_wanted), self._scan)
        for name, listener in {
            open_catalog.LOG: listeners.log_changes,
            open_catalog.INDEXES: self.publication.changed,
        }.items():
            yield Part(f"events-{name}", each_turn, partial(events.deliver, name, listener))
        for queue in self.hooks:
            yield Part(queue.hook.listener, each_turn, partial(queue.step, self.store))
        yield Part("indexes", self._seconds_to_indexes, self.publication.step)
        yield Part(
            "routing tests",
            lambda _: at_once(self.publication.is_untested and not scans.is_wanted),
            self.publication.test,
        )

    @property
    def has_settled(self) -> bool:
        """Whether no scan is wanted, and the folders that changed are scanned or take too long."""
        waits = map(self.units.seconds_overdue, self.scans.report.unsettled)
        return not self.scans.is_wanted and None not in waits

    @property
    def is_done(self) -> bool:
        """Whether all is scanned, published and delivered to the hooks."""
        return (
            self.has_settled
            and not self.takes_all_outcomes
            and self.publication.due is None
            and not self.publication.is_untested
            and not any(queue.is_sending for queue in self.hooks)
        )

    def finish(self) -> None:
        """Do the work after the scan of a command, once all is quiet."""
        scans = self.scans
        scans.show_pending(scans.report)
        if not scans.report.unsettled and can_list_all(self.settings.root_specs):
            for _ in self.store.repair.end_takeover(datetime.now(UTC)):
                pass
        scans.write_row()
        self.collect()

    def stop(self) -> None:
        """End the work of other threads and processes."""
        self.pulls.stop()
        self.scans.stop()
        with suppress(sqlite3.Error):  # the catalog may be locked, full or closed
            listeners.stop_all(self.hooks, self.store)

    def _seconds_to_outcomes(self, now: float) -> float:
        if self.takes_all_outcomes:
            return 0.0
        return self.outcomes.seconds_to_next(now) if self._is_following else NEVER

    def _seconds_to_indexes(self, now: float) -> float:
        due = self.publication.due
        if due is None or not (self._is_following or self.has_settled):
            return NEVER
        return max(0.0, due - now) if self._is_following else 0.0

    def _take_outcomes(self) -> None:
        report = self.outcomes.take(
            self.store, time.monotonic(), time.time_ns(), is_complete=self.takes_all_outcomes
        )
        listeners.log_outcomes(report)
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
            return
        # The scan may have read the superseded units earlier and stored them later.
        again = self.units.scanned_all(self.scans.report, self.scans.superseded)
        self.scans.superseded.clear()
        self.publication.publish_now()  # index files may be lost or damaged
        self.takes_all_outcomes = True
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


PUBLISH_EVERY = 1.0
"""Seconds between two publications while a long scan goes on."""


class Publication:
    """Publication of all indexes: at once after a quiet time, together during many changes."""

    def __init__(self, settings: Settings, store: Store) -> None:
        """Make a publication due now: index files may be missing."""
        self._settings = settings
        self._store = store
        self._last = 0.0
        self.due: float | None = 0.0
        """Time of the next one by the monotonic clock; None if nothing has changed."""
        self.is_untested = False
        """Whether routing tests of published skills may be left to run."""

    def publish_now(self) -> None:
        """Make a publication due now."""
        self.due = 0.0

    def changed(self, events: Sequence[Event]) -> None:
        """Make a publication due: the first change shows at once, the next ones together."""
        is_scan = any(event.trigger != "event" for event in events)
        delay = PUBLISH_EVERY if is_scan else self._settings.index_delay
        after = max(time.monotonic(), self._last + delay)
        self.due = after if self.due is None else min(after, self.due)

    def step(self) -> None:
        """Publish the indexes."""
        for name in open_catalog.publish(self._settings, self._store, datetime.now(UTC)):
            log.info("published index %s", name)
        self.due, self._last, self.is_untested = None, time.monotonic(), True

    def test(self) -> None:
        """Run the routing tests of one published skill, so that other work need not wait long."""
        self.is_untested = routing.run_next(self._store.db)


class PackageCheck:
    """Verification of published packages, a few at a time, while there is no other work."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._steps: Iterator[Collection[Key]] | None = None

    def begin(self) -> None:
        """Begin with the packages whose last verification is the oldest."""
        self._steps = self._work.store.repair.verify(lambda: datetime.now(UTC))

    def seconds_to_next(self, now: float) -> float:
        """Return the seconds until the next step."""
        is_free = not self._work.scans.is_wanted and self._work.units.seconds_to_next(now) > 0.0
        return at_once(self._steps is not None and is_free)

    def step(self) -> None:
        """Verify a few packages; the skills of those that cannot be repaired are scanned again."""
        repaired = self._work.store.repair.count
        try:
            keys = next(self._steps or iter(()), None)
        except BaseException:
            self.begin()
            raise
        if keys is None:
            self._steps = None
            return
        self._work.units.scan_again(keys)
        if self._work.store.repair.count != repaired:  # those beyond repair are not published
            self._work.publication.publish_now()
