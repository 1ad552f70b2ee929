"""Main loop of the service, which keeps the catalog equal to the roots."""

import logging
import sqlite3
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple, TypeVar

from catalog.database.connection import explained
from catalog.database.file_check import FileCheck
from catalog.filesystem.ownership import OwnedFolder
from catalog.model import paths as model_paths
from catalog.model.change import ChangeResult
from catalog.model.errors import CatalogDamaged, OutOfRoom, SkilldropError
from catalog.model.paths import archive_of
from catalog.model.trouble import Problem
from catalog.model.values import Trigger
from catalog.site.server.process import SiteProcess
from catalog.text import humanize
from catalog.writing.events import Listener
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.outcomes.inbox import OutcomeInbox
from pipeline.roots.local import walk
from pipeline.roots.local.folder import Limits
from pipeline.roots.units import WatchUnit
from pipeline.service import systemd
from pipeline.service.backlog import Backlog
from pipeline.service.heartbeat import BEAT, Heartbeat, quarantined
from pipeline.service.index_schedule import IndexSchedule
from pipeline.service.package_check import PackageCheck
from pipeline.service.request_runner import RequestRunner
from pipeline.service.scan_queue import ScanQueue, ScanRequest
from pipeline.service.timer import Timer
from pipeline.service.troubles import LONGEST_PAUSE, Troubles
from pipeline.sync import change_log, listeners
from pipeline.sync.change_log import TroubleLog
from pipeline.sync.engines.processes import processes
from pipeline.sync.full_scan import FullScan, show_pending
from pipeline.sync.open_catalog import open_store
from pipeline.sync.report import Report
from pipeline.sync.synchronizer import Synchronizer, can_list_all
from pipeline.watch.settling import Settling
from pipeline.watch.supervisor import ModeChange, WatchSupervisor

log = logging.getLogger("skilldrop")

T = TypeVar("T")

TICK = 1.0
"""Seconds between two looks at what cannot call by itself: the watcher and the site."""
COLLECT_EVERY = 600.0
"""Seconds between two collections of packages that need not be kept."""


class Hint(NamedTuple):
    """Something may have changed at a path; "" asks for nothing but attention."""

    path: str


class ScanDue(NamedTuple):
    """A full scan is wanted."""

    trigger: Trigger


class CollectDue(NamedTuple):
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
        self._inbox: SimpleQueue[Hint | ScanDue | CollectDue] = SimpleQueue()
        self._settle = Settling(settings.settle_quiet, settings.settle_longest)
        self._outcomes = OutcomeInbox(
            settings.outcomes_folder, settings.settle_quiet, settings.settle_longest
        )
        self._supervisor = WatchSupervisor(
            [*(root.path for root in self._roots), str(settings.outcomes_folder)],
            self._heard,
            depth=self._limits.depth,
            poll_every=settings.poll_every,
            only_polls=settings.follow == "polling",
        )
        self._scans = ScanQueue(self._new_scan)
        self._requests = RequestRunner(settings, self._scans)
        self._trouble_log = TroubleLog()
        self._timer = Timer()
        self._file_check = FileCheck(settings.catalog_path)
        self._package_check = PackageCheck()
        self._index_schedule = IndexSchedule(settings)
        self._listeners: dict[str, Listener] = {
            listeners.LOG: change_log.log_changes,
            listeners.INDEXES: self._index_schedule.changed,
        }
        self._troubles = Troubles()
        self._heartbeat = Heartbeat(settings, self._troubles)
        self._backlog = Backlog()
        self._has_catalog = True
        self._looks_at_outcomes = False
        self._next_tick = 0.0
        self._is_quiet = False
        self._collects = False
        self._stopping = False
        self._damage: str | None = None  # of the catalog, which is rebuilt at the next tick

    def stop(self) -> None:
        """Ask the service to end; safe in a signal handler, as a SimpleQueue is reentrant."""
        self._stopping = True
        self._inbox.put(Hint(""))

    def rescan(self) -> None:
        """Ask for a full scan, from any thread."""
        self._inbox.put(ScanDue("re-scan"))

    def collect(self) -> None:
        """Ask for the removal of packages that need not be kept, from any thread."""
        self._inbox.put(CollectDue())

    def run(self, begun: Callable[[], None] = lambda: None) -> None:
        """Watch, scan and publish until stopped; `begun` is called once all is listening.

        Raises SkilldropError before that.
        """
        self._timer.every(self._settings.rescan_every, "re-scan", self.rescan)
        self._timer.every(COLLECT_EVERY, "collect", self.collect)
        self._timer.start()
        try:
            with explained(self._settings.catalog_path):
                if self._site:
                    self._site.start()
                self._begin()
            begun()
            systemd.tell("READY=1")
            while not self._stopping:
                self._hear()
                self._work()
        finally:
            systemd.tell("STOPPING=1")
            self._timer.stop()
            self._supervisor.stop()
            self._scans.stop()
            if self._site:
                self._site.stop()
            with suppress(sqlite3.Error):  # the catalog may be locked, full or closed
                self._heartbeat.end(self._store, _now())
            self._store.close()

    def _begin(self) -> None:
        self._heartbeat.begin(self._store, _now())
        self._is_quiet = False
        self._requests.abandon(self._store)
        with self._store.folders.opened(OwnedFolder(self._settings.outcomes_folder, "outcomes")):
            pass  # there from now on, to be watched
        self._scans.request("start")
        self._take_turn(self._supervisor.begin(time.monotonic()))
        self._index_schedule.publish_now()  # the files may be missing though the catalog is whole

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
            if isinstance(word, ScanDue):
                self._scans.request(word.trigger)
            elif isinstance(word, CollectDue):
                self._collects = True
            elif not self._stopping:
                self._hint(word.path)

    def _seconds_to_work(self) -> float:
        now = time.monotonic()
        if not self._has_catalog:
            return max(0.0, self._next_tick - now)
        polling = 0.0 if self._scans.is_wanted else self._supervisor.seconds_to_poll(now)
        waits = [self._next_tick - now]
        waits += [
            max(wait, self._troubles.seconds_to_try(part, now))
            for part, wait in (
                ("scan", polling),
                ("indexes", _until(self._index_schedule.due, now)),
                ("changes", self._settle.seconds_to_next(now)),
                ("outcomes", self._outcomes.seconds_to_next(now)),
                ("packages", _until(self._package_check.due, now)),
            )
            if wait is not None
        ]
        return max(0.0, min(waits))

    def _hint(self, path: str) -> None:
        if self._outcomes.hint(path, time.monotonic()):
            return
        for root in self._roots:
            # The root's own hint says that an entry came or went, which has its own hint.
            if path and (unit := walk.unit_of(Path(root.path), path)):
                self._settle.hint(WatchUnit(root.path, unit), time.monotonic())
                self._heartbeat.note_event(_now())

    def _take_turn(self, turn: ModeChange) -> None:
        """Tell the catalog how changes are noticed from now on, and look for what was missed."""
        self._scans.request("re-scan")
        self._heartbeat.note_mode(turn, _now())

    # Working

    def _work(self) -> None:
        """Do what is due, part by part: one that fails stops no other, and is tried again."""
        is_tick = time.monotonic() >= self._next_tick
        if is_tick:
            self._next_tick = time.monotonic() + TICK
            systemd.tell("WATCHDOG=1")
            self._try("timer", self._keep_timer)
            self._try("catalog", self._keep_catalog)
            self._try("watcher", self._keep_watch)
            self._try("site", self._keep_site)
        if not self._has_catalog:
            self._heartbeat.write_beside(_now())
            return
        if is_tick:
            now = time.monotonic()
            for unit in self._backlog.due(now):
                self._settle.hint(unit, now)
            self._try("requests", self._grant)
        self._try("collect", self._collect)
        self._try("quiet", self._note_quiet, BEAT)  # before a part of what comes can be seen
        self._try("changes", self._look_at_due)
        self._try("outcomes", self._take_outcomes)
        self._try("scan", self._continue_scan)
        for name, listener in self._listeners.items():
            self._try(f"events-{name}", partial(self._store.events.deliver, name, listener))
        self._try("indexes", lambda: self._index_schedule.publish_due(self._store, _now()))
        self._try("quiet", self._note_quiet, BEAT)
        self._try("packages", self._verify)
        if self._index_schedule.due is None:
            self._try(
                "answers",
                lambda: self._requests.answer(
                    self._store, self._settle.waiting(), time.monotonic()
                ),
            )
        if self._heartbeat.is_due(time.monotonic()):
            self._try("heartbeat", self._beat, BEAT)

    def _try(
        self, part: str, work: Callable[[], Problem | None], longest: float = LONGEST_PAUSE
    ) -> None:
        """Do a part of the work, unless it failed a moment ago; Troubles keeps account of it."""

        def explained_work() -> Problem | None:
            with explained(self._settings.catalog_path):
                return work()

        try:
            self._troubles.attempt(part, explained_work, longest)
        except CatalogDamaged as error:
            if self._has_catalog:
                self._damage, self._next_tick = str(error), 0.0  # rebuilt without delay
            else:
                self._troubles.failed(part, str(error), time.monotonic(), _now(), longest)

    def _keep_timer(self) -> None:
        """Let the jobs come when they are due, whatever happens to the clock or their thread."""
        if step := self._timer.keep_pace(time.monotonic(), _now()):
            log.warning(
                "the clock was set %s by %.0f s", "forward" if step > 0 else "back", abs(step)
            )
        if self._timer.revive():
            log.warning("the timer of the full scans died; started another")
            self._scans.request("re-scan")

    def _keep_watch(self) -> Problem | None:
        now = time.monotonic()
        turn = self._supervisor.check(now)
        if not turn and self._supervisor.needs_count and not len(self._settle):
            turn = self._supervisor.check_all_heard(now)
        if turn:
            self._take_turn(turn)
        return self._supervisor.trouble

    def _keep_site(self) -> Problem | None:
        if not self._site:
            return None
        if self._site.pid is None:  # it was stopped with the catalog that it served
            self._site.start()
        self._site.ensure_running(time.monotonic())
        if not self._site.trouble:
            return None
        return Problem(self._site.trouble, self._site.failures, self._site.next_start)

    def _grant(self) -> None:
        if self._requests.grant(self._store):
            self._index_schedule.publish_now()

    def _beat(self) -> None:
        self._try("quarantine", lambda: quarantined(self._store, self._settings, _now()))
        self._heartbeat.beat(self._store, len(self._settle) + len(self._backlog), _now())

    def _collect(self) -> None:
        if not self._collects:
            return
        kept = self._settings.retention
        try:
            if gone := self._store.collect(kept.of_packages, _now()):
                log.info("removed %s of superseded versions", humanize.count(gone, "package"))
        finally:  # also where a package could not be removed
            if gone := self._store.thin(kept.of_history, _now()):
                log.info("removed the rows of %s", humanize.count(gone, "old version"))
        self._collects = False

    def _note_quiet(self) -> None:
        """Tell others when all that was heard of has been looked at and published."""
        is_quiet = not (
            len(self._settle)
            or len(self._outcomes)
            or self._looks_at_outcomes
            or self._scans.is_wanted
            or self._index_schedule.due is not None
            or self._supervisor.needs_count
        )
        if is_quiet and self._store.repair.awaits_scan and can_list_all(self._roots):
            self._scans.request("re-scan")  # the last one met folders that were still changing
            return
        if is_quiet != self._is_quiet:
            self._store.health.set(quiet_since=_now() if is_quiet else None)
            self._is_quiet = is_quiet
            self._beat()
            if is_quiet:
                self._store.checkpoint()  # now nobody waits for it

    def _keep_catalog(self) -> None:
        """Begin a new catalog where the file was deleted, exchanged or damaged as we run."""
        if self._has_catalog:
            self._damage = self._damage or self._file_check.damage
            if not self._damage and self._store.is_in_place():
                return
            if not self._damage:
                log.error(
                    "%s was deleted or exchanged; rebuilding the catalog from the roots",
                    self._settings.catalog_path,
                )
            self._has_catalog = False
            self._scans.stop()
            self._store.close()
            self._file_check = FileCheck(self._settings.catalog_path)
            if self._site:
                self._site.stop()
        damage, self._damage = self._damage, None  # the file is kept aside, once
        self._store = open_store(self._settings, damage=damage)
        try:
            self._begin()
        except BaseException:
            self._store.close()
            raise
        self._has_catalog = True

    def _look_at_due(self) -> Problem | None:
        now = time.monotonic()
        due = self._settle.due(now)
        if not due:
            return self._backlog.problem
        self._backlog.start(due)
        work = Synchronizer(
            self._store,
            self._roots,
            self._limits,
            trigger="event",
            quiet=self._settings.settle_quiet,
            still_settling=self._still_settling(due, now),
        )
        try:
            with suppress(OutOfRoom):  # the others are not kept waiting for it
                for _ in work.run(due):
                    if self._stopping:
                        return None
            self._backlog.crowd(_by_unit(work.report.no_room), time.monotonic())
            self._backlog.delay(_by_unit(work.report.delayed), time.monotonic())
            again = self._unsettled(work.report)
            again |= {unit for unit in due if unit.root in work.report.troubles}
            postponed = self._await_others(work.report)
            self._settle.done(unit for unit in due if unit not in again | postponed)
            for unit in again:
                self._settle.again(unit, time.monotonic())
            if self._scans.is_running:
                self._scans.superseded |= set(due)
            self._show_pending(work.report)
        finally:
            self._trouble_log.log(work.report.troubles.values())
        return self._backlog.problem

    def _still_settling(self, due: Collection[WatchUnit], now: float) -> Collection[WatchUnit]:
        """Return the other units that wait, unless something has waited for them long enough."""
        if any(self._settle.overdue(unit, now) for unit in due):
            return ()
        return self._settle.waiting() - set(due)

    def _await_others(self, report: Report) -> set[WatchUnit]:
        """Look at what is gone together with what goes after it: it may be more than it seems."""
        units = {WatchUnit(root, _unit(root, path)) for root, path in report.postponed}
        for unit in units:
            self._settle.hint(unit, self._settle.latest(unit.root) or time.monotonic())
        return units

    def _continue_scan(self) -> None:
        """Do one batch of the full scan that runs, or begin one that is requested."""
        if self._supervisor.polls(time.monotonic()) and not self._scans.is_wanted:
            self._scans.request("re-scan", is_poll=True)
        if not self._scans.is_wanted:
            return
        scan, has_ended = self._step()
        if has_ended:
            self._backlog.delay(_by_unit(scan.report.delayed), time.monotonic())
            again = self._unsettled(scan.report)
            self._await_others(scan.report)
            # The scan may have read these before they were looked at, and stored them after.
            again |= self._scans.superseded
            for unit in again:
                self._settle.again(unit, time.monotonic())
            self._requests.scanned(
                self._scans.repairs, again, time.monotonic() + self._settings.settle_longest
            )
            self._scans.superseded.clear()
            self._index_schedule.publish_now()  # the files may have been lost or damaged
            if not all(request.is_poll for request in self._scans.granted):
                self._file_check.begin(time.monotonic())
                self._package_check.begin(self._store)
            self._note_scanned()
            self._looks_at_outcomes = True
            self._show_pending(scan.report)
        self._trouble_log.log(scan.report.troubles.values())

    def _take_outcomes(self) -> None:
        take = self._outcomes.take_all if self._looks_at_outcomes else self._outcomes.take_due
        change_log.log_outcomes(take(self._store, time.monotonic(), time.time_ns()))
        self._looks_at_outcomes = False

    def _verify(self) -> None:
        """Verify a few packages, if it is time to and nothing else is to be done now."""
        now = time.monotonic()
        check, changes = self._package_check.due, self._settle.seconds_to_next(now)
        if check is None or check > now or self._scans.is_wanted or changes == 0.0:
            return
        mended = self._store.repair.count
        for root, path in self._package_check.step():
            self._settle.hint(WatchUnit(root, _unit(root, path)), now)
        if self._store.repair.count != mended:
            self._index_schedule.publish_now()  # what could not be mended is not published any more

    def _step(self) -> tuple[FullScan, bool]:
        try:
            with explained(self._settings.catalog_path):
                return self._scans.step()
        except (SkilldropError, MemoryError) as error:
            self._requests.failed(self._scans.repairs, error)
            raise

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
            deep=bool(repairs),
            is_poll=all(request.is_poll for request in requests),
            accepts_removals=any(each.accepts_removals for each in repairs),
            was_announced=self._was_announced,
            still_settling=self._settle.waiting(),
        )

    def _note_scanned(self) -> None:
        now = time.monotonic()
        self._supervisor.polled(now)
        self._heartbeat.hurry()
        if not len(self._settle) and (turn := self._supervisor.check_all_heard(now)):
            self._take_turn(turn)

    def _was_announced(self, change: ChangeResult) -> bool:
        """Tell whether events had named a folder before a re-scan found it changed.

        What changed before the watch was on could not be heard of, and is not missed.
        """
        was_announced = WatchUnit(change.root, _unit(change.root, change.path)) in self._settle
        return (
            was_announced
            or self._scans.granted[0].trigger == "start"
            or bool(self._scans.repairs)  # it finds what it was told to doubt
            or self._supervisor.mode == "polling"
        )

    def _unsettled(self, report: Report) -> set[WatchUnit]:
        """Return what to come back to: folders that are still changing."""
        return {WatchUnit(root, _unit(root, path)) for root, path in report.unsettled}

    def _show_pending(self, report: Report) -> None:
        """Show the folders that take too long to settle."""
        now = time.monotonic()
        for root, path in report.unsettled:
            since = self._settle.overdue(WatchUnit(root, _unit(root, path)), now)
            why = report.failures.get(WatchUnit(root, path))
            if since is not None or why:
                show_pending(
                    self._store,
                    self._roots,
                    WatchUnit(root, path),
                    _now() - timedelta(seconds=now - (since or now)),
                    why,
                )


def _unit(root: str, path: str) -> str:
    """Return what a folder settles as; one in an archive settles as that."""
    path = archive_of(path) or path
    return walk.unit_of(Path(root), model_paths.os_path(f"{root}/{path}")) or path


def _by_unit(values: Mapping[WatchUnit, T]) -> dict[WatchUnit, T]:
    """Return the values of skills as values of the units that they settle in."""
    return {WatchUnit(root, _unit(root, path)): value for (root, path), value in values.items()}


def _until(moment: float | None, now: float) -> float | None:
    return None if moment is None else moment - now


def _now() -> datetime:
    return datetime.now(UTC)
