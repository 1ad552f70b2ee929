"""Keeps the catalog equal to the roots for as long as it runs; all threads live here."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

from apscheduler.schedulers.background import BackgroundScheduler

from catalog.errors import SkilldropError
from catalog.publisher import publish_indexes
from catalog.record import Applied, Trigger
from catalog.site.process import SiteProcess
from catalog.store import Store, explained
from pipeline import disk
from pipeline.config import Settings
from pipeline.disk import Limits
from pipeline.engines import processes
from pipeline.excerpt import visible
from pipeline.rounds import FullScan, Report, Round, show_pending
from pipeline.settle import Settle, Unit
from pipeline.watch import OVERFLOWED, Watch

log = logging.getLogger("skilldrop")

TICK = 1.0
"""Seconds between two looks at what cannot call by itself: the watcher and the site."""
HEARTBEAT = 5.0
"""Seconds between two signs of life in the catalog."""
PUBLISH_EVERY = 1.0
"""Seconds between two rebuilds of the indexes while a long scan goes on."""
RETRY_WATCH = 30.0
"""Seconds between two attempts to watch where the system will not; each comes with a re-scan."""
TROUBLE_PAUSE = 5.0
"""Seconds until work is tried again after it failed, on a full disk say."""

_FINISHED = object()


class Hint(NamedTuple):
    """Something may have changed at a path; "" asks for nothing but attention."""

    path: str


class ScanWish(NamedTuple):
    """A full scan is wanted."""

    trigger: Trigger


class Service:
    """The watcher, the timer and the site around one thread that does all the work.

    The other threads only put words into the inbox.
    """

    def __init__(self, settings: Settings, store: Store, site: SiteProcess | None = None) -> None:
        """Take the settings, the catalog opened for writing, and the site to keep running."""
        self._settings = settings
        self._store = store
        self._site = site
        self._roots = settings.root_specs
        self._limits = Limits(**settings.limits.model_dump())
        self._inbox: SimpleQueue[Hint | ScanWish] = SimpleQueue()
        self._settle = Settle(settings.settle_quiet, settings.settle_longest)
        self._watch = Watch([], self._heard)
        self._scan: tuple[FullScan, Generator[None, None, None]] | None = None
        self._scan_trigger: Trigger = "start"
        self._scans_wished: list[Trigger] = []
        self._pause_until = 0.0
        self._overtaken: set[Unit] = set()  # looked at while the full scan goes on
        self._publish_after: float | None = None
        self._next_watch: float | None = None
        self._next_tick = 0.0
        self._next_beat = 0.0
        self._last_event: datetime | None = None
        self._stopping = False

    def stop(self) -> None:
        """Ask the service to end; safe in a signal handler, as a SimpleQueue is reentrant."""
        self._stopping = True
        self._inbox.put(Hint(""))

    def run(self, begun: Callable[[], None] = lambda: None) -> None:
        """Watch, scan and publish until stopped; `begun` is called once all is listening.

        Raises SkilldropError before that.
        """
        scheduler = BackgroundScheduler(timezone="UTC")
        scheduler.add_job(
            self._inbox.put, "interval", [ScanWish("re-scan")], id="re-scan",
            seconds=self._settings.rescan_every, coalesce=True, max_instances=1,
            misfire_grace_time=None, replace_existing=True,
        )
        scheduler.start()
        try:
            self._begin()
            begun()
            while not self._stopping:
                self._hear()
                if time.monotonic() >= self._pause_until:
                    self._work()
        finally:
            scheduler.shutdown(wait=False)
            self._watch.stop()
            if self._scan:
                self._scan[1].close()
            if self._site:
                self._site.stop()
            with suppress(sqlite3.OperationalError):  # the catalog may be locked or full
                self._store.set_health(watcher_mode="stopped", service_pid=None,
                                       service_stopped=_now())

    def _begin(self) -> None:
        self._store.set_health(service_pid=os.getpid(), service_started=_now(),
                               service_seen=_now(), service_stopped=None)
        if self._site:
            self._site.start()
        self._listen("the service started")
        self._publish_after = 0.0  # the files may be missing though the catalog is whole
        self._scans_wished.append("start")  # the watch is on: what comes from now on is heard

    # Hearing

    def _heard(self, path: str) -> None:
        """Take a hint from watchdog's thread."""
        self._inbox.put(Hint(path))

    def _hear(self) -> None:
        """Wait for a word, no longer than until the next work, and take those there are by now."""
        try:
            words = [self._inbox.get(timeout=self._seconds_to_work())]
            words += [self._inbox.get_nowait() for _ in range(self._inbox.qsize())]
        except Empty:
            return
        for word in words:
            if isinstance(word, ScanWish):
                self._scans_wished.append(word.trigger)
            elif not self._stopping:
                self._hint(word.path)

    def _seconds_to_work(self) -> float:
        now = time.monotonic()
        if now < self._pause_until:
            return self._pause_until - now
        if self._scan or self._scans_wished:
            return 0.0
        waits = [self._next_tick - now, self._settle.seconds_to_next(now)]
        if self._publish_after is not None:
            waits.append(self._publish_after - now)
        return max(0.0, min(wait for wait in waits if wait is not None))

    def _hint(self, path: str) -> None:
        for root in self._roots:
            # The root's own hint says that an entry came or went, which has its own hint.
            if path and (unit := disk.unit_of(Path(root.path), path)):
                self._settle.hint(Unit(root.path, unit), time.monotonic())
                self._last_event = _now()

    def _listen(self, reason: str) -> None:
        """Start a new observer in the place of the old one; without any, re-scans have to do."""
        self._watch.stop()
        self._watch = Watch([root.path for root in self._roots], self._heard)
        mode = "native"
        try:
            self._watch.start()
        except OSError as error:
            mode, reason = "polling", f"the system will not watch: {error.strerror or error}"
            log.warning("%s; re-scanning every %g s instead", reason, RETRY_WATCH)
        self._next_watch = time.monotonic() + RETRY_WATCH if mode == "polling" else None
        self._store.set_health(watcher_mode=mode, watcher_since=_now(), watcher_reason=reason)

    # Working

    def _work(self) -> None:
        """Do what is due. What fails for lack of room, say, is said in a sentence and retried."""
        try:
            with explained(self._settings.data):
                self._tick()
                self._look_at_due()
                self._continue_scan()
                self._publish()
        except SkilldropError as error:
            log.error("%s", error)
            self._pause_until = time.monotonic() + TROUBLE_PAUSE

    def _tick(self) -> None:
        now = time.monotonic()
        if now < self._next_tick:
            return
        self._next_tick = now + TICK
        if self._next_watch is not None and now >= self._next_watch:
            self._listen("tried again")
            self._scans_wished.append("re-scan")
        elif self._next_watch is None and (doubt := self._watch.doubt()):
            log.warning("%s; watching anew and scanning everything", doubt)
            if doubt == OVERFLOWED:
                self._store.count_overflow()
            self._listen(doubt)
            self._scans_wished.append("re-scan")
        if self._site:
            self._site.ensure_running(now)
        if now >= self._next_beat:
            self._next_beat = now + HEARTBEAT
            self._store.set_health(service_seen=_now(), last_event=self._last_event,
                                   pending_count=len(self._settle))

    def _look_at_due(self) -> None:
        due = self._settle.due(time.monotonic())
        if not due:
            return
        work = Round(self._store, self._roots, self._limits, trigger="event",
                     quiet=self._settings.settle_quiet)
        try:
            for _ in work.run(due):
                if self._stopping:
                    return
            again = self._await_unsettled(work.report)
            again |= {unit for unit in due if unit.root in work.report.troubles}
            self._settle.done(unit for unit in due if unit not in again)
            for unit in again:
                self._settle.hint(unit, time.monotonic())
            if self._scan:
                self._overtaken |= set(due)
        finally:
            self._tell(work.report)

    def _continue_scan(self) -> None:
        """Do one batch of the full scan that runs, or begin one that is wished for."""
        if not self._scan:
            if not self._scans_wished:
                return
            self._scan_trigger = self._scans_wished[0]
            scan = FullScan(self._store, self._roots, self._limits,
                            trigger=self._scan_trigger, quiet=self._settings.settle_quiet,
                            engine=processes, heard_of=self._heard_of)
            self._scan = (scan, scan.run())
            self._scans_wished.clear()  # one scan grants all the wishes there were
        scan, steps = self._scan
        try:
            finished = next(steps, _FINISHED) is _FINISHED
        except BaseException:
            self._scan = None
            self._scans_wished.append("re-scan")
            raise
        if finished:
            self._scan = None
            again = self._await_unsettled(scan.report)
            # The scan may have read these before they were looked at, and stored them after.
            for unit in again | self._overtaken:
                self._settle.hint(unit, time.monotonic())
            self._overtaken.clear()
            self._publish_after = time.monotonic()  # the files may have been lost or damaged
        self._tell(scan.report)

    def _heard_of(self, change: Applied) -> bool:
        """Tell whether events had named a folder before a re-scan found it changed.

        What changed before the watch was on could not be heard of, and is not missed.
        """
        was_announced = Unit(change.root, _unit(change.root, change.path)) in self._settle
        return was_announced or self._scan_trigger == "start"

    def _await_unsettled(self, report: Report) -> set[Unit]:
        """Come back to folders that are still changing, and show those that take too long."""
        now = time.monotonic()
        again = set()
        for root, path in report.unsettled:
            unit = Unit(root, _unit(root, path))
            again.add(unit)
            since = self._settle.overdue(unit, now)
            if since is not None:
                show_pending(self._store, self._roots, Unit(root, path),
                             _now() - timedelta(seconds=now - since))
        return again

    def _tell(self, report: Report) -> None:
        """Log each change and trouble once, and see to it that the indexes follow."""
        for trouble in report.troubles.values():
            log.warning("%s", trouble)
        report.troubles.clear()
        for one in report.changes:
            detail = f" ({one.detail})" if one.detail else ""
            log.info("%s %s", one.outcome, visible(f"{one.path}{detail}"))
        if report.changes and self._publish_after is None:
            self._publish_after = time.monotonic() + (PUBLISH_EVERY if self._scan else 0.0)
        report.changes.clear()

    def _publish(self) -> None:
        if self._publish_after is None or time.monotonic() < self._publish_after:
            return
        for name in publish_indexes(self._store, self._settings.index_specs,
                                    self._settings.index_folder, _now()):
            log.info("published index %s", name)
        self._publish_after = None


def _unit(root: str, path: str) -> str:
    """Return what a folder settles as."""
    return disk.unit_of(Path(root), disk.os_path(f"{root}/{path}")) or path


def _now() -> datetime:
    return datetime.now(UTC)
