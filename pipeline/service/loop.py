"""Main loop of the service, which keeps the catalog up to date with the roots."""

import gc
import logging
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from catalog.database.connection import FileCheck, explained
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.errors import CatalogDamaged
from catalog.model.trouble import Problem
from catalog.site.server.process import SiteProcess
from catalog.text import humanize
from catalog.text.suggestions import few
from catalog.writing.events import Listener
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.outcomes.inbox import OutcomeInbox
from pipeline.service import change_log, heartbeat, hook_queue, open_catalog
from pipeline.service.heartbeat import BEAT, Heartbeat, quarantined
from pipeline.service.hook_queue import HookQueue
from pipeline.service.inbox import CollectDue, Hint, Inbox, PullDue, ScanDue
from pipeline.service.open_catalog import open_store
from pipeline.service.package_check import PackageCheck
from pipeline.service.pending_units import PendingUnits
from pipeline.service.publication import IndexSchedule
from pipeline.service.pulls import Pulls
from pipeline.service.requests import RequestRunner
from pipeline.service.scanning.change_batches import Report
from pipeline.service.scanning.scanner import judge
from pipeline.service.scanning.synchronizer import can_list_all
from pipeline.service.scans import Scans
from pipeline.service.timer import Timer
from pipeline.service.troubles import Troubles
from pipeline.service.webhook import Webhook
from pipeline.watch.supervisor import ModeChange, WatchSupervisor

log = logging.getLogger("skilldrop")

TICK = 1.0
"""Seconds between two checks of the watcher and the site, which cannot report by themselves."""
COLLECT_EVERY = 600.0
"""Seconds between two removals of expired packages."""


class Service:
    """Watcher, timer and site around one thread that does all the work.

    The other threads only put messages into the inbox. `run` closes the catalog at its end.
    """

    def __init__(self, settings: Settings, store: Store, site: SiteProcess | None = None) -> None:
        """Take the settings, the catalog open for writing, and the site to keep running."""
        self._settings = settings
        self._store = store
        self._site = site
        self._roots = settings.root_specs
        self._inbox = Inbox()
        self._units = PendingUnits(self._roots, settings.settle_quiet, settings.settle_longest)
        self._outcomes = OutcomeInbox(
            settings.outcomes_folder, settings.settle_quiet, settings.settle_longest
        )
        self._supervisor = WatchSupervisor(
            [  # a mirror changes only by a pull
                *(root.path for root in self._roots if not root.origin),
                str(settings.outcomes_folder),
            ],
            self._on_path,
            depth=settings.limits.depth,
            poll_every=settings.poll_every,
            only_polls=settings.follow == "polling",
        )
        self._scans = Scans(settings, store, self._units, self._supervisor)
        self._full_scans = self._scans.queue
        self._pulls = Pulls(settings, lambda: self._inbox.put(Hint("")))
        self._requests = RequestRunner(settings, self._full_scans, self._pulls)
        self._hooks = [
            HookQueue(hook, lambda: self._inbox.put(Hint(""))) for hook in settings.hooks
        ]
        hook = settings.webhook
        self._webhook = (
            Webhook(hook.port, hook.secret, lambda: self._inbox.put(PullDue()))
            if hook.port
            else None
        )
        self._timer = Timer()
        self._file_check = FileCheck(settings.catalog_path)
        self._package_check = PackageCheck()
        self._index_schedule = IndexSchedule(settings)
        self._listeners: dict[str, Listener] = {
            open_catalog.LOG: change_log.log_changes,
            open_catalog.INDEXES: self._index_schedule.changed,
        }
        self._troubles = Troubles()
        self._heartbeat = Heartbeat(settings, self._troubles, site)
        self._has_catalog = True
        self._looks_at_outcomes = False
        self._next_tick = 0.0
        self._is_quiet = False
        self._awaits_checkpoint = False
        self._collects = False
        self._stopping = False
        self._damage: str | None = None  # of the catalog; it is rebuilt at the next tick

    def stop(self) -> None:
        """Ask the service to end; safe in a signal handler."""
        self._stopping = True
        self._inbox.put(Hint(""))

    def rescan(self) -> None:
        """Request a full scan, from any thread."""
        self._inbox.put(ScanDue("re-scan"))

    def collect(self) -> None:
        """Request the removal of expired packages, from any thread."""
        self._inbox.put(CollectDue())

    def run(self, begun: Callable[[], None] = lambda: None) -> None:
        """Watch, scan and publish until stopped; call `begun` once everything has started.

        Raises SkilldropError before `begun`.
        """
        self._timer.every(self._settings.rescan_every, "re-scan", self.rescan)
        self._timer.every(COLLECT_EVERY, "collect", self.collect)
        for mirror, seconds in self._settings.git_roots:
            self._timer.every(
                seconds, f"pull {mirror.root}", partial(self._inbox.put, PullDue(mirror.root))
            )
        self._timer.start()
        try:
            with explained(self._settings.catalog_path):
                if self._site:
                    self._site.start()
                self._begin()
            judge()  # imports the rules, for which the first change would have to wait
            begun()
            heartbeat.notify("READY=1")
            while not self._stopping:
                self._receive()
                self._work()
        finally:
            heartbeat.notify("STOPPING=1")
            self._timer.stop()
            self._supervisor.stop()
            self._pulls.stop()
            if self._webhook:
                self._webhook.stop()
            self._full_scans.stop()
            if self._site:
                self._site.stop()
            with suppress(sqlite3.Error):  # the catalog may be locked, full or closed
                hook_queue.stop_all(self._hooks, self._store)
            with suppress(sqlite3.Error):
                self._heartbeat.end(self._store, _now())
            self._store.close()

    def _begin(self) -> None:
        self._heartbeat.begin(self._store, _now())
        self._is_quiet = False
        self._requests.abandon(self._store)
        with self._store.folders.opened(OwnedFolder(self._settings.outcomes_folder, "outcomes")):
            pass  # create the folder, so that it can be watched
        self._pulls.begin(self._store)
        for queue in self._hooks:
            queue.restart()
        self._full_scans.request("start")
        self._change_mode(self._supervisor.begin(time.monotonic()))
        self._index_schedule.publish_now()  # index files may be missing

    # Messages

    def _on_path(self, path: str) -> None:
        """Take a hint from the thread of watchdog, with its time: the loop may be at work."""
        self._inbox.put(Hint(path, time.monotonic()))

    def _receive(self) -> None:
        """Wait for a message, at most until the next work is due, and handle all in the inbox."""
        for message in self._inbox.take_all(self._seconds_to_work()):
            if isinstance(message, ScanDue):
                self._full_scans.request(message.trigger)
            elif isinstance(message, CollectDue):
                self._collects = True
            elif isinstance(message, PullDue):
                self._pulls.start(message.root) if message.root else self._pulls.start_all()
            elif not self._stopping:
                self._hint(message)

    def _seconds_to_work(self) -> float:
        now = time.monotonic()
        if not self._has_catalog:
            return max(0.0, self._next_tick - now)
        polling = 0.0 if self._full_scans.is_wanted else self._supervisor.seconds_to_poll(now)
        waits = [self._next_tick - now]  # hooks are tried again at a tick
        waits += [
            max(wait, self._troubles.seconds_to_try(part, now))
            for part, wait in (
                ("scan", polling),
                ("indexes", _until(self._index_schedule.due, now)),
                ("changes", self._units.seconds_to_next(now)),
                ("outcomes", self._outcomes.seconds_to_next(now)),
                ("packages", _until(self._package_check.due, now)),
            )
            if wait is not None
        ]
        return max(0.0, min(waits))

    def _hint(self, hint: Hint) -> None:
        if self._outcomes.hint(hint.path, hint.at):
            return
        if self._units.hint(hint.path, hint.at):
            self._heartbeat.note_event(_now())

    def _change_mode(self, change: ModeChange) -> None:
        """Record a change of the watcher mode, and scan for changes that were missed."""
        self._full_scans.request("re-scan")
        self._heartbeat.note_mode(change, _now())

    # Work

    def _work(self) -> None:
        """Do the due work, part by part; a part that fails is tried again and stops no other."""
        is_tick = time.monotonic() >= self._next_tick
        if is_tick:
            self._next_tick = time.monotonic() + TICK
            heartbeat.notify("WATCHDOG=1")
            self._try("timer", self._keep_timer)
            self._try("catalog", self._keep_catalog)
            self._try("watcher", self._keep_watch)
            self._try("site", self._keep_site)
            if self._webhook:
                self._try("webhook", self._webhook.ensure)
        if not self._has_catalog:
            self._heartbeat.write_beside(_now())
            return
        if is_tick:
            now = time.monotonic()
            self._units.resume_backlog(now)
            self._try("requests", self._grant)
            self._try("packages", self._store.packager.switch_current)
            self._try("skills", self._find_taken)
        self._try("collect", self._collect)
        self._try("quiet", self._note_quiet, BEAT)  # before the next changes become visible
        self._try("changes", partial(self._scans.scan_settled, lambda: self._stopping))
        self._try("outcomes", self._take_outcomes)
        self._try("pull", self._take_pulls)
        self._try("scan", self._continue_scan)
        for name, listener in self._listeners.items():
            self._try(f"events-{name}", partial(self._store.events.deliver, name, listener))
        for queue in self._hooks:
            self._try(queue.hook.listener, partial(queue.step, self._store))
        self._try("indexes", lambda: self._index_schedule.publish_due(self._store, _now()))
        self._try("quiet", self._note_quiet, BEAT)
        self._try("packages", self._verify)
        if self._index_schedule.due is None:
            self._try(
                "answers",
                lambda: self._requests.answer(self._store, self._units.waiting(), time.monotonic()),
            )
        if self._heartbeat.is_due(time.monotonic()):
            self._try("heartbeat", self._beat, BEAT)

    def _try(
        self, part: str, work: Callable[[], Problem | None], longest: float | None = None
    ) -> None:
        """Do a part of the work, unless it waits for its next try after a failure."""

        def explained_work() -> Problem | None:
            with explained(self._settings.catalog_path):
                return work()

        try:
            self._troubles.attempt(part, explained_work, longest)
        except CatalogDamaged as error:
            if self._has_catalog:
                self._damage, self._next_tick = str(error), 0.0  # rebuilt at once
            else:
                self._troubles.failed(part, str(error), time.monotonic(), _now(), longest)

    def _keep_timer(self) -> None:
        """Keep the jobs on time, even if the clock is changed or their thread dies."""
        if step := self._timer.keep_pace(time.monotonic(), _now()):
            log.warning(
                "system clock was set %s by %.0f s", "forward" if step > 0 else "back", abs(step)
            )
        if self._timer.revive():
            log.warning("timer of the full scans died and was restarted")
            self._full_scans.request("re-scan")

    def _keep_watch(self) -> Problem | None:
        now = time.monotonic()
        change = self._supervisor.check(now)
        if not change and self._supervisor.needs_count and not len(self._units):
            change = self._supervisor.check_all_heard(now)
        if change:
            self._change_mode(change)
        return self._supervisor.trouble

    def _keep_site(self) -> Problem | None:
        if not self._site:
            return None
        if self._site.pid is None:  # it was stopped with the former catalog
            self._site.start()
        self._site.ensure_running(time.monotonic())
        if not self._site.trouble:
            return None
        return Problem(self._site.trouble, self._site.failures, self._site.next_start)

    def _find_taken(self) -> Problem | None:
        path, names = self._store.links.taken()
        if not names:
            return None
        return Problem(
            f"{path} has entries that skilldrop did not make under the names of skills, so these "
            f"skills are not there: {few(names)}. Move the entries away.",
            len(names),
        )

    def _grant(self) -> None:
        if self._requests.grant(self._store):
            self._index_schedule.publish_now()

    def _beat(self) -> None:
        self._try("quarantine", lambda: quarantined(self._store, self._settings, _now()))
        self._heartbeat.beat(self._store, self._units.count, _now())

    def _collect(self) -> None:
        if not self._collects:
            return
        kept = self._settings.retention
        try:
            if removed := self._store.collect(kept, _now()):
                log.info("removed %s of superseded versions", humanize.count(removed, "package"))
        finally:  # even if a package could not be removed
            if removed := self._store.thin(kept, _now()):
                log.info("removed the rows of %s", humanize.count(removed, "old version"))
        self._collects = False

    def _note_quiet(self) -> None:
        """Record in the catalog whether all known changes are scanned and published."""
        is_quiet = not (
            len(self._units)
            or len(self._outcomes)
            or self._looks_at_outcomes
            or self._full_scans.is_wanted
            or self._index_schedule.due is not None
            or self._supervisor.needs_count
        )
        if is_quiet and self._store.takeover.is_under_way and can_list_all(self._roots):
            # The last full scan found folders that were still changing.
            self._full_scans.request("re-scan")
            return
        if is_quiet != self._is_quiet:
            self._store.health.set(quiet_since=_now() if is_quiet else None)
            self._is_quiet = is_quiet
            self._beat()
            self._awaits_checkpoint = is_quiet  # nothing waits for it now
        if self._awaits_checkpoint:
            self._awaits_checkpoint = not self._store.checkpoint()

    def _keep_catalog(self) -> None:
        """Start a new catalog if the file was deleted, replaced or damaged meanwhile."""
        if self._has_catalog:
            self._damage = self._damage or self._file_check.damage
            if not self._damage and self._store.is_in_place():
                return
            if not self._damage:
                log.error(
                    "%s was deleted or replaced; rebuilding the catalog from the roots",
                    self._settings.catalog_path,
                )
            self._has_catalog = False
            try:
                self._full_scans.stop()
            finally:
                self._store.close()
            self._file_check = FileCheck(self._settings.catalog_path)
            if self._site:
                self._site.stop()
        damage, self._damage = self._damage, None  # the damaged file is kept only once
        self._store = open_store(self._settings, damage=damage)
        self._scans.use(self._store)
        try:
            self._begin()
        except BaseException:
            self._store.close()
            raise
        self._has_catalog = True

    def _take_pulls(self) -> None:
        if not self._full_scans.is_running and self._pulls.finish(self._store):
            self._full_scans.request("re-scan")

    def _continue_scan(self) -> None:
        """Run one batch of the running or the next requested full scan."""
        if self._supervisor.polls(time.monotonic()) and not self._full_scans.is_wanted:
            self._full_scans.request("re-scan", is_poll=True)
        if not self._full_scans.is_wanted:
            return
        try:
            with explained(self._settings.catalog_path):
                report = self._scans.step()
        except Exception as error:
            self._requests.failed(self._full_scans.repairs, error)
            raise
        if report:
            self._finish_scan(report)

    def _finish_scan(self, report: Report) -> None:
        """Do the work that follows a full scan."""
        # The full scan may have read the superseded units earlier and stored them later.
        again = self._units.scanned_all(report, self._full_scans.superseded)
        self._requests.scanned(
            self._full_scans.repairs, again, time.monotonic() + self._settings.settle_longest
        )
        self._full_scans.superseded.clear()
        self._index_schedule.publish_now()  # index files may be lost or damaged
        if not all(request.is_poll for request in self._full_scans.granted):
            self._store.links.check_all()
            self._file_check.begin(time.monotonic())
            self._package_check.begin(self._store)
            _spare_collections()
        self._note_scanned()
        self._looks_at_outcomes = True
        self._scans.show_pending(report)

    def _take_outcomes(self) -> None:
        take = self._outcomes.take_all if self._looks_at_outcomes else self._outcomes.take_due
        change_log.log_outcomes(take(self._store, time.monotonic(), time.time_ns()))
        self._looks_at_outcomes = False

    def _verify(self) -> None:
        """Verify a few packages, if this is due and there is no other work."""
        now = time.monotonic()
        is_due = self._package_check.is_due(now, self._units.seconds_to_next(now))
        if not is_due or self._full_scans.is_wanted:
            return
        repaired = self._store.repair.count
        self._units.scan_again(self._package_check.step())
        if self._store.repair.count != repaired:
            self._index_schedule.publish_now()  # packages beyond repair are no longer published

    def _note_scanned(self) -> None:
        now = time.monotonic()
        self._supervisor.polled(now)
        self._heartbeat.hurry()
        if not len(self._units) and (change := self._supervisor.check_all_heard(now)):
            self._change_mode(change)


def _spare_collections() -> None:
    """Keep all that is in memory now out of garbage collections until the next full scan.

    A collection that looks at the watches of 10,000 skills delays a change by 0.1 s.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def _until(moment: float | None, now: float) -> float | None:
    return None if moment is None else moment - now


def _now() -> datetime:
    return datetime.now(UTC)
