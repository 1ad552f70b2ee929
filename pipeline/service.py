"""Keeps the catalog equal to the roots for as long as it runs; all threads live here."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

from apscheduler.schedulers.background import BackgroundScheduler

from catalog.connection import explained
from catalog.errors import CatalogBusy, SkilldropError
from catalog.file_names import archive_of
from catalog.publisher import publish_indexes
from catalog.record import Applied, Trigger
from catalog.site.process import SiteProcess
from catalog.store import Store
from pipeline import disk, systemd
from pipeline.config import Settings
from pipeline.disk import Limits
from pipeline.engines import processes
from pipeline.journal import Journal
from pipeline.missing import Report
from pipeline.opening import open_store
from pipeline.outcomes import OutcomeInbox
from pipeline.passes import Passes, Wish
from pipeline.rounds import FullScan, Round, show_pending
from pipeline.settle import Settle, Unit
from pipeline.supervision import Supervision, Turn
from pipeline.wishes import Wishes

log = logging.getLogger("skilldrop")

TICK = 1.0
"""Seconds between two looks at what cannot call by itself: the watcher and the site."""
HEARTBEAT = 5.0
"""Seconds between two signs of life in the catalog."""
PUBLISH_EVERY = 1.0
"""Seconds between two rebuilds of the indexes while a long scan goes on."""
COLLECT_EVERY = 600.0
"""Seconds between two collections of packages that need not be kept."""
TROUBLE_PAUSE = 5.0
"""Seconds until work is tried again after it failed, on a full disk say."""


class Hint(NamedTuple):
    """Something may have changed at a path; "" asks for nothing but attention."""

    path: str


class ScanWish(NamedTuple):
    """A full scan is wanted."""

    trigger: Trigger


class CollectWish(NamedTuple):
    """Packages that need not be kept are to be removed."""


class Service:
    """The watcher, the timer and the site around one thread that does all the work.

    The other threads only put words into the inbox. It closes the catalog when it has run.
    """

    def __init__(self, settings: Settings, store: Store, site: SiteProcess | None = None) -> None:
        """Take the settings, the catalog opened for writing, and the site to keep running."""
        self._settings = settings
        self._store = store
        self._site = site
        self._roots = settings.root_specs
        self._limits = Limits(**settings.limits.model_dump())
        self._inbox: SimpleQueue[Hint | ScanWish | CollectWish] = SimpleQueue()
        self._settle = Settle(settings.settle_quiet, settings.settle_longest)
        self._outcomes = OutcomeInbox(settings.outcomes_folder, settings.settle_quiet,
                                      settings.settle_longest)
        self._supervision = Supervision(
            [*(root.path for root in self._roots), str(settings.outcomes_folder)], self._heard,
            depth=self._limits.depth, poll_every=settings.poll_every,
            only_polls=settings.follow == "polling")
        self._passes = Passes(self._new_scan)
        self._wishes = Wishes(settings, self._passes)
        self._journal = Journal()
        self._pause_until = 0.0
        self._publish_after: float | None = None
        self._published = 0.0
        self._next_tick = 0.0
        self._next_beat = 0.0
        self._last_event: datetime | None = None
        self._is_quiet = False
        self._collects = False
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
        scheduler.add_job(
            self._inbox.put, "interval", [CollectWish()], id="collect", seconds=COLLECT_EVERY,
            coalesce=True, max_instances=1, misfire_grace_time=None, replace_existing=True,
        )
        scheduler.start()
        try:
            self._begin()
            begun()
            systemd.tell("READY=1")
            while not self._stopping:
                self._hear()
                if time.monotonic() >= self._pause_until:
                    self._work()
        finally:
            systemd.tell("STOPPING=1")
            scheduler.shutdown(wait=False)
            self._supervision.stop()
            self._passes.stop()
            if self._site:
                self._site.stop()
            with suppress(sqlite3.Error):  # the catalog may be locked, full or closed
                self._store.set_health(watcher_mode="stopped", service_pid=None,
                                       service_stopped=_now(), quiet_since=None)
            self._store.close()

    def _begin(self) -> None:
        self._store.set_health(service_pid=os.getpid(), service_started=_now(),
                               service_seen=_now(), service_stopped=None, quiet_since=None)
        self._is_quiet = False
        self._wishes.abandon(self._store)
        if self._site:
            self._site.start()
        self._settings.outcomes_folder.mkdir(parents=True, exist_ok=True)
        self._passes.wish("start")
        self._take_turn(self._supervision.begin(time.monotonic()))
        self._publish_after = 0.0  # the files may be missing though the catalog is whole

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
                self._passes.wish(word.trigger)
            elif isinstance(word, CollectWish):
                self._collects = True
            elif not self._stopping:
                self._hint(word.path)

    def _seconds_to_work(self) -> float:
        now = time.monotonic()
        if now < self._pause_until:
            return self._pause_until - now
        if self._passes.is_wanted:
            return 0.0
        waits = [self._next_tick - now, self._settle.seconds_to_next(now),
                 self._outcomes.seconds_to_next(now), self._supervision.seconds_to_poll(now)]
        if self._publish_after is not None:
            waits.append(self._publish_after - now)
        return max(0.0, min(wait for wait in waits if wait is not None))

    def _hint(self, path: str) -> None:
        if self._outcomes.hint(path, time.monotonic()):
            return
        for root in self._roots:
            # The root's own hint says that an entry came or went, which has its own hint.
            if path and (unit := disk.unit_of(Path(root.path), path)):
                self._settle.hint(Unit(root.path, unit), time.monotonic())
                self._last_event = _now()

    def _take_turn(self, turn: Turn) -> None:
        """Tell the catalog how changes are noticed from now on, and look for what was missed."""
        if turn.has_overflowed:
            self._store.count_overflow()
        self._store.set_health(watcher_mode=turn.mode, watcher_since=_now(),
                               watcher_reason=turn.reason)
        self._passes.wish("re-scan")

    # Working

    def _work(self) -> None:
        """Do what is due. What fails for lack of room, say, is said in a sentence and retried."""
        try:
            with explained(self._settings.data):
                self._tick()
                self._collect()
                self._note_quiet()  # before anybody can see a part of what is to come
                self._look_at_due()
                self._journal.tell_outcomes(self._outcomes.take_due(
                    self._store, time.monotonic(), time.time_ns()))
                self._continue_scan()
                self._publish()
                self._note_quiet()
                if self._publish_after is None:
                    self._wishes.answer(self._store, self._settle.waiting(), time.monotonic())
        except CatalogBusy:
            raise
        except SkilldropError as error:
            log.error("%s", error)
            self._pause_until = time.monotonic() + TROUBLE_PAUSE

    def _tick(self) -> None:
        now = time.monotonic()
        if now < self._next_tick:
            return
        systemd.tell("WATCHDOG=1")
        self._keep_catalog()
        self._next_tick = now + TICK
        turn = self._supervision.check(now)
        if not turn and self._supervision.needs_count and not len(self._settle):
            turn = self._supervision.check_all_heard(now)
        if turn:
            self._take_turn(turn)
        if self._site:
            self._site.ensure_running(now)
        if self._wishes.grant(self._store):
            self._publish_after = now
        if now >= self._next_beat:
            self._next_beat = now + HEARTBEAT
            self._give_sign()

    def _give_sign(self) -> None:
        self._store.set_health(service_seen=_now(), last_event=self._last_event,
                               pending_count=len(self._settle),
                               held_removals=self._store.removals.held())

    def _collect(self) -> None:
        kept = self._settings.retention.of_packages
        if self._collects and (gone := self._store.collect(kept, _now())):
            log.info("removed %d packages of superseded versions", gone)
        self._collects = False

    def _note_quiet(self) -> None:
        """Tell others when all that was heard of has been looked at and published."""
        is_quiet = not (len(self._settle) or len(self._outcomes) or self._passes.is_wanted
                        or self._publish_after is not None or self._supervision.needs_count)
        if is_quiet != self._is_quiet:
            self._store.set_health(quiet_since=_now() if is_quiet else None)
            self._is_quiet = is_quiet
            self._give_sign()
            if is_quiet:
                self._store.checkpoint()  # now nobody waits for it

    def _keep_catalog(self) -> None:
        """Begin a new catalog where the file was deleted or exchanged under our hands."""
        if self._store.is_in_place():
            return
        log.error("%s was deleted or exchanged; making the catalog anew from the roots",
                  self._settings.catalog_path)
        self._passes.stop()
        self._store.close()
        self._store = open_store(self._settings)
        if self._site:
            self._site.stop()
        self._begin()

    def _look_at_due(self) -> None:
        now = time.monotonic()
        due = self._settle.due(now)
        if not due:
            return
        work = Round(self._store, self._roots, self._limits, trigger="event",
                     quiet=self._settings.settle_quiet, going=self._going(due, now))
        try:
            for _ in work.run(due):
                if self._stopping:
                    return
            again = self._await_unsettled(work.report)
            again |= {unit for unit in due if unit.root in work.report.troubles}
            postponed = self._await_others(work.report)
            self._settle.done(unit for unit in due if unit not in again | postponed)
            for unit in again:
                self._settle.again(unit, time.monotonic())
            if self._passes.is_running:
                self._passes.overtaken |= set(due)
        finally:
            self._tell(work.report, self._settings.index_delay)

    def _going(self, due: Collection[Unit], now: float) -> Collection[Unit]:
        """Return the other units that wait, unless something has waited for them long enough."""
        if any(self._settle.overdue(unit, now) for unit in due):
            return ()
        return self._settle.waiting() - set(due)

    def _await_others(self, report: Report) -> set[Unit]:
        """Look at what is gone together with what goes after it: it may be more than it seems."""
        units = {Unit(root, _unit(root, path)) for root, path in report.postponed}
        for unit in units:
            self._settle.hint(unit, self._settle.latest(unit.root) or time.monotonic())
        return units

    def _continue_scan(self) -> None:
        """Do one batch of the full scan that runs, or begin one that is wished for."""
        if self._supervision.polls(time.monotonic()) and not self._passes.is_wanted:
            self._passes.wish("re-scan", is_poll=True)
        if not self._passes.is_wanted:
            return
        scan, has_ended = self._step()
        if has_ended:
            again = self._await_unsettled(scan.report)
            self._await_others(scan.report)
            # The scan may have read these before they were looked at, and stored them after.
            again |= self._passes.overtaken
            for unit in again:
                self._settle.again(unit, time.monotonic())
            self._wishes.scanned(self._passes.mendings, again,
                                 time.monotonic() + self._settings.settle_longest)
            self._passes.overtaken.clear()
            self._publish_after = time.monotonic()  # the files may have been lost or damaged
            self._note_scanned()
            self._journal.tell_outcomes(self._outcomes.take_all(
                self._store, time.monotonic(), time.time_ns()))
        self._tell(scan.report, PUBLISH_EVERY)

    def _step(self) -> tuple[FullScan, bool]:
        try:
            with explained(self._settings.data):
                return self._passes.step()
        except SkilldropError as error:
            self._wishes.failed(self._passes.mendings, error)
            raise

    def _new_scan(self, wishes: Sequence[Wish]) -> FullScan:
        mendings = [wish.mending for wish in wishes if wish.mending]
        self._store.forget([place for mending in mendings for place in mending.doubted])
        return FullScan(self._store, self._roots, self._limits, trigger=wishes[0].trigger,
                        quiet=self._settings.settle_quiet, engine=processes, deep=bool(mendings),
                        is_poll=all(wish.is_poll for wish in wishes),
                        accepts_removals=any(each.accepts_removals for each in mendings),
                        heard_of=self._heard_of, going=self._settle.waiting())

    def _note_scanned(self) -> None:
        now = time.monotonic()
        self._supervision.polled(now)
        self._give_sign()
        if not len(self._settle) and (turn := self._supervision.check_all_heard(now)):
            self._take_turn(turn)

    def _heard_of(self, change: Applied) -> bool:
        """Tell whether events had named a folder before a re-scan found it changed.

        What changed before the watch was on could not be heard of, and is not missed.
        """
        was_announced = Unit(change.root, _unit(change.root, change.path)) in self._settle
        return (was_announced or self._passes.granted[0].trigger == "start"
                or bool(self._passes.mendings)  # it finds what it was told to doubt
                or self._supervision.mode == "polling")

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

    def _tell(self, report: Report, delay: float) -> None:
        """Log what was found, and see to it that the indexes follow."""
        if self._journal.tell(report):  # the first change shows at once, the next ones together
            after = max(time.monotonic(), self._published + delay)
            self._publish_after = min(after, self._publish_after or after)

    def _publish(self) -> None:
        if self._publish_after is None or time.monotonic() < self._publish_after:
            return
        for name in publish_indexes(self._store, self._settings.index_specs,
                                    self._settings.index_folder, _now(),
                                    self._settings.retention.of_indexes):
            log.info("published index %s", name)
        self._publish_after, self._published = None, time.monotonic()


def _unit(root: str, path: str) -> str:
    """Return what a folder settles as; one in an archive settles as that."""
    path = archive_of(path) or path
    return disk.unit_of(Path(root), disk.os_path(f"{root}/{path}")) or path


def _now() -> datetime:
    return datetime.now(UTC)
