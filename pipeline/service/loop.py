"""Keeps the catalog equal to the roots for as long as it runs; all threads live here."""

import logging
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from catalog.database import health
from catalog.database.connection import explained
from catalog.database.file_check import FileCheck
from catalog.filesystem.ownership import Folder
from catalog.model import paths as model_paths
from catalog.model.change import Applied
from catalog.model.errors import CatalogBusy, CatalogDamaged, OutOfMemory, OutOfRoom, SkilldropError
from catalog.model.paths import archive_of, os_path
from catalog.model.trouble import Problem
from catalog.model.values import Trigger
from catalog.site.server.process import SiteProcess
from catalog.text import humanize
from catalog.text.times import iso
from catalog.writing.index_publisher import publish_indexes
from catalog.writing.packages.builder import Key
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.outcomes.inbox import OutcomeInbox
from pipeline.roots.local import walk
from pipeline.roots.local.folder import Limits
from pipeline.roots.units import Unit
from pipeline.service import systemd
from pipeline.service.change_log import Journal
from pipeline.service.request_runner import Wishes
from pipeline.service.scan_queue import Passes, Wish
from pipeline.service.timer import Timer
from pipeline.service.troubles import LONGEST_PAUSE, Troubles
from pipeline.sync.engines.processes import processes
from pipeline.sync.full_scan import FullScan, show_pending
from pipeline.sync.open_catalog import open_store
from pipeline.sync.report import Report
from pipeline.sync.synchronizer import Round, can_list_all
from pipeline.watch.settling import Settle
from pipeline.watch.supervisor import Supervision, Turn

log = logging.getLogger("skilldrop")

TICK = 1.0
"""Seconds between two looks at what cannot call by itself: the watcher and the site."""
HEARTBEAT = 5.0
"""Seconds between two signs of life in the catalog."""
PUBLISH_EVERY = 1.0
"""Seconds between two rebuilds of the indexes while a long scan goes on."""
VERIFYING = 0.1
"""The share of the time that packages may be verified in while nothing else is done."""
COLLECT_EVERY = 600.0
"""Seconds between two collections of packages that need not be kept."""
ROOM_PAUSE = 30.0
"""Seconds until what there was no room for is tried again."""
MEMORY_TRIES = 6
"""Times in a row that a part may fail for lack of memory: some minutes, until the service ends."""
QUARANTINE_TOLD = timedelta(days=1)
"""For how long a quarantined outcome file needs attention, unless somebody moves it away."""
QUARANTINE_MOST = 100
"""Quarantined files that are looked for."""


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
        self._outcomes = OutcomeInbox(
            settings.outcomes_folder, settings.settle_quiet, settings.settle_longest
        )
        self._supervision = Supervision(
            [*(root.path for root in self._roots), str(settings.outcomes_folder)],
            self._heard,
            depth=self._limits.depth,
            poll_every=settings.poll_every,
            only_polls=settings.follow == "polling",
        )
        self._passes = Passes(self._new_scan)
        self._wishes = Wishes(settings, self._passes)
        self._journal = Journal()
        self._timer = Timer()
        self._file_check = FileCheck(settings.catalog_path)
        self._verification: Iterator[list[Key]] = iter(())
        self._verify_after: float | None = None
        self._troubles = Troubles()
        self._has_catalog = True
        self._news: dict[str, Any] = {}  # for the health row
        self._overflows = 0  # that are not counted there yet
        self._looks_at_outcomes = False
        self._publish_after: float | None = None
        self._published = 0.0
        self._next_tick = 0.0
        self._next_beat = 0.0
        self._last_event: datetime | None = None
        self._seen: datetime | None = None  # as the catalog has it of the last sign of life
        self._is_quiet = False
        self._collects = False
        self._stopping = False
        self._crowded: dict[Unit, str] = {}  # what there is no room for, and why
        self._crowded_times = 0
        self._delayed: dict[Unit, float] = {}  # skills that change too often, and until when
        self._damage: str | None = None  # of the catalog, which is made anew at the next tick

    def stop(self) -> None:
        """Ask the service to end; safe in a signal handler, as a SimpleQueue is reentrant."""
        self._stopping = True
        self._inbox.put(Hint(""))

    def run(self, begun: Callable[[], None] = lambda: None) -> None:
        """Watch, scan and publish until stopped; `begun` is called once all is listening.

        Raises SkilldropError before that.
        """
        self._timer.every(
            self._settings.rescan_every, "re-scan", lambda: self._inbox.put(ScanWish("re-scan"))
        )
        self._timer.every(COLLECT_EVERY, "collect", lambda: self._inbox.put(CollectWish()))
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
            self._supervision.stop()
            self._passes.stop()
            if self._site:
                self._site.stop()
            with suppress(sqlite3.Error):  # the catalog may be locked, full or closed
                self._store.set_health(
                    watcher_mode="stopped",
                    service_pid=None,
                    service_stopped=_now(),
                    quiet_since=None,
                )
                self._store.set_troubles([])
            self._store.close()

    def _begin(self) -> None:
        seen = _now()
        self._store.set_health(
            service_pid=os.getpid(),
            service_started=_now(),
            service_seen=seen,
            service_stopped=None,
            quiet_since=None,
        )
        self._seen = seen
        self._store.set_troubles(self._troubles.all())
        self._is_quiet = False
        self._wishes.abandon(self._store)
        with self._store.owned(Folder(self._settings.outcomes_folder, "outcomes")):
            pass  # there from now on, to be watched
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
        if not self._has_catalog:
            return max(0.0, self._next_tick - now)
        polling = 0.0 if self._passes.is_wanted else self._supervision.seconds_to_poll(now)
        waits = [self._next_tick - now]
        waits += [
            max(wait, self._troubles.seconds_to_try(part, now))
            for part, wait in (
                ("scan", polling),
                ("indexes", _until(self._publish_after, now)),
                ("changes", self._settle.seconds_to_next(now)),
                ("outcomes", self._outcomes.seconds_to_next(now)),
                ("packages", _until(self._verify_after, now)),
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
                self._settle.hint(Unit(root.path, unit), time.monotonic())
                self._last_event = _now()

    def _take_turn(self, turn: Turn) -> None:
        """Tell the catalog how changes are noticed from now on, and look for what was missed."""
        self._passes.wish("re-scan")
        self._overflows += turn.has_overflowed
        self._news |= {
            "watcher_mode": turn.mode,
            "watcher_since": _now(),
            "watcher_reason": turn.reason,
        }

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
            self._write_beside()
            return
        if is_tick:
            self._look_again_at_delayed(time.monotonic())
            self._try("requests", self._grant)
        self._try("collect", self._collect)
        self._try("quiet", self._note_quiet, HEARTBEAT)  # before a part of what comes can be seen
        self._try("changes", self._look_at_due)
        self._try("outcomes", self._take_outcomes)
        self._try("scan", self._continue_scan)
        self._try("indexes", self._publish)
        self._try("quiet", self._note_quiet, HEARTBEAT)
        self._try("packages", self._verify)
        if self._publish_after is None:
            self._try(
                "answers",
                lambda: self._wishes.answer(self._store, self._settle.waiting(), time.monotonic()),
            )
        now = time.monotonic()
        if now >= self._next_beat or self._news or self._troubles.has_changed:
            self._next_beat = now + HEARTBEAT
            self._try("heartbeat", self._give_sign, HEARTBEAT)

    def _try(
        self, part: str, work: Callable[[], Problem | None], longest: float = LONGEST_PAUSE
    ) -> None:
        """Do a part of the work, unless it failed a moment ago, and keep account of its failures.

        A part that tries again by itself returns what is wrong with it. Raises OutOfMemory where
        memory was short too often.
        """
        if not self._troubles.is_due(part, time.monotonic()):
            return
        try:
            with explained(self._settings.catalog_path):
                problem = work()
        except CatalogBusy:
            raise
        except SkilldropError as error:
            if isinstance(error, CatalogDamaged) and self._has_catalog:
                self._damage, self._next_tick = str(error), 0.0  # made anew without delay
            else:
                self._troubles.failed(part, str(error), time.monotonic(), _now(), longest)
        except MemoryError as error:
            self._run_short_of_memory(part, error)
        else:
            if problem:
                self._troubles.reported(part, problem, time.monotonic(), _now())
            else:
                self._troubles.over(part)

    def _run_short_of_memory(self, part: str, error: MemoryError) -> None:
        what = "There is not enough memory for this work."
        if self._troubles.times(part) + 1 >= MEMORY_TRIES:
            raise OutOfMemory(
                f"{what} It failed {MEMORY_TRIES} times in a row, so the service "
                "ends; give it more memory, or smaller limits."
            ) from error
        self._troubles.failed(part, what, time.monotonic(), _now())

    def _keep_timer(self) -> None:
        """Let the jobs come when they are due, whatever happens to the clock or their thread."""
        if step := self._timer.keep_pace(time.monotonic(), _now()):
            log.warning(
                "the clock was set %s by %.0f s", "forward" if step > 0 else "back", abs(step)
            )
        if self._timer.revive():
            log.warning("the timer of the full scans died; started another")
            self._passes.wish("re-scan")

    def _keep_watch(self) -> Problem | None:
        now = time.monotonic()
        turn = self._supervision.check(now)
        if not turn and self._supervision.needs_count and not len(self._settle):
            turn = self._supervision.check_all_heard(now)
        if turn:
            self._take_turn(turn)
        return self._supervision.trouble

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
        if self._wishes.grant(self._store):
            self._publish_after = time.monotonic()

    def _give_sign(self) -> None:
        """Say that the service lives, and what is wrong with it: in the catalog and beside it."""
        self._try("quarantine", self._count_quarantined)
        self._write_beside()
        for _ in range(self._overflows):
            self._store.count_overflow()
            self._overflows -= 1
        seen = _now()
        self._store.set_health(
            **{
                "service_seen": seen,
                "last_event": self._last_event,
                "pending_count": len(self._settle) + len(self._delayed),
                "held_removals": self._store.removals.held(),
                **self._news,
            }
        )
        self._seen = seen
        self._news.clear()
        if self._troubles.has_changed:
            self._store.set_troubles(self._troubles.all())
            self._troubles.has_changed = False

    def _write_beside(self) -> None:
        """Say so in the file beside the catalog, which a full disk allows; else in nothing."""
        with suppress(OSError):
            health.write_file(
                self._settings.catalog_path,
                os.getpid(),
                iso(_now()),
                iso(self._seen) if self._seen else None,
                self._troubles.all(),
            )

    def _count_quarantined(self) -> Problem | None:
        """Name the outcome files that were quarantined lately and still lie there."""
        folder = self._settings.outcomes_folder
        there = [
            path
            for path, _ in self._store.quarantined_since(_now() - QUARANTINE_TOLD, QUARANTINE_MOST)
            if (folder / os_path(path)).exists()
        ]
        if not there:
            return None
        return Problem(
            f"{len(there)} quarantined in the last day: {', '.join(there[:3])}"
            f"{' and others' if len(there) > 3 else ''}, in {folder}.",
            len(there),
        )

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
            or self._passes.is_wanted
            or self._publish_after is not None
            or self._supervision.needs_count
        )
        if is_quiet and self._store.was_lost and can_list_all(self._roots):
            self._passes.wish("re-scan")  # the last one met folders that were still changing
            return
        if is_quiet != self._is_quiet:
            self._store.set_health(quiet_since=_now() if is_quiet else None)
            self._is_quiet = is_quiet
            self._give_sign()
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
                    "%s was deleted or exchanged; making the catalog anew from the roots",
                    self._settings.catalog_path,
                )
            self._has_catalog = False
            self._passes.stop()
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
            return self._no_room
        for unit in due:
            self._crowded.pop(unit, None)
        work = Round(
            self._store,
            self._roots,
            self._limits,
            trigger="event",
            quiet=self._settings.settle_quiet,
            going=self._going(due, now),
        )
        try:
            with suppress(OutOfRoom):  # the others are not kept waiting for it
                for _ in work.run(due):
                    if self._stopping:
                        return None
            self._note_crowded(work.report)
            self._note_delayed(work.report)
            again = self._unsettled(work.report)
            again |= {unit for unit in due if unit.root in work.report.troubles}
            postponed = self._await_others(work.report)
            self._settle.done(unit for unit in due if unit not in again | postponed)
            for unit in again:
                self._settle.again(unit, time.monotonic())
            if self._passes.is_running:
                self._passes.overtaken |= set(due)
            self._show_pending(work.report)
        finally:
            self._tell(work.report, self._settings.index_delay)
        return self._no_room

    @property
    def _no_room(self) -> Problem | None:
        """What cannot be published for lack of room, and when that is tried again."""
        if not self._crowded:
            return None
        return Problem(
            next(iter(self._crowded.values())),
            self._crowded_times,
            min(
                (self._delayed[unit] for unit in self._crowded if unit in self._delayed),
                default=None,
            ),
        )

    def _note_crowded(self, report: Report) -> None:
        now = time.monotonic()
        self._crowded |= {
            Unit(root, _unit(root, path)): why for (root, path), why in report.no_room.items()
        }
        self._crowded_times = self._crowded_times + bool(report.no_room) if self._crowded else 0
        if report.no_room and self._crowded_times == 1:
            log.error("%s Trying again in %g s.", next(iter(report.no_room.values())), ROOM_PAUSE)
        for root, path in report.no_room:
            self._delayed[Unit(root, _unit(root, path))] = now + ROOM_PAUSE

    def _look_again_at_delayed(self, now: float) -> None:
        for unit in [unit for unit, until in self._delayed.items() if until <= now]:
            del self._delayed[unit]
            self._settle.hint(unit, now)

    def _note_delayed(self, report: Report) -> None:
        now = time.monotonic()
        for (root, path), wait in report.delayed.items():
            self._delayed[Unit(root, _unit(root, path))] = now + wait

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
            self._note_delayed(scan.report)
            again = self._unsettled(scan.report)
            self._await_others(scan.report)
            # The scan may have read these before they were looked at, and stored them after.
            again |= self._passes.overtaken
            for unit in again:
                self._settle.again(unit, time.monotonic())
            self._wishes.scanned(
                self._passes.mendings, again, time.monotonic() + self._settings.settle_longest
            )
            self._passes.overtaken.clear()
            self._publish_after = time.monotonic()  # the files may have been lost or damaged
            if not all(wish.is_poll for wish in self._passes.granted):
                self._file_check.begin(time.monotonic())
                self._verification = self._store.verify_packages(_now)
                self._verify_after = time.monotonic()
            self._note_scanned()
            self._looks_at_outcomes = True
        self._tell(scan.report, PUBLISH_EVERY)
        if has_ended:
            self._show_pending(scan.report)

    def _take_outcomes(self) -> None:
        take = self._outcomes.take_all if self._looks_at_outcomes else self._outcomes.take_due
        self._journal.tell_outcomes(take(self._store, time.monotonic(), time.time_ns()))
        self._looks_at_outcomes = False

    def _verify(self) -> None:
        """Verify a few packages, if it is time to and nothing else is to be done now."""
        began = time.monotonic()
        due = self._settle.seconds_to_next(began)
        if (
            self._verify_after is None
            or began < self._verify_after
            or self._passes.is_wanted
            or (due is not None and due <= 0)
        ):
            return
        self._verify_after = None
        mended = self._store.packages_mended
        again = next(self._verification, None)
        if again is None:
            return
        if self._store.packages_mended != mended:
            self._publish_after = began  # what could not be mended is not published any more
        for root, path in again:
            self._settle.hint(Unit(root, _unit(root, path)), began)
        took = time.monotonic() - began
        self._verify_after = began + took / VERIFYING

    def _step(self) -> tuple[FullScan, bool]:
        try:
            with explained(self._settings.catalog_path):
                return self._passes.step()
        except (SkilldropError, MemoryError) as error:
            self._wishes.failed(self._passes.mendings, error)
            raise

    def _new_scan(self, wishes: Sequence[Wish]) -> FullScan:
        mendings = [wish.mending for wish in wishes if wish.mending]
        self._store.forget([place for mending in mendings for place in mending.doubted])
        return FullScan(
            self._store,
            self._roots,
            self._limits,
            trigger=wishes[0].trigger,
            quiet=self._settings.settle_quiet,
            engine=processes,
            deep=bool(mendings),
            is_poll=all(wish.is_poll for wish in wishes),
            accepts_removals=any(each.accepts_removals for each in mendings),
            heard_of=self._heard_of,
            going=self._settle.waiting(),
        )

    def _note_scanned(self) -> None:
        now = time.monotonic()
        self._supervision.polled(now)
        self._next_beat = now
        if not len(self._settle) and (turn := self._supervision.check_all_heard(now)):
            self._take_turn(turn)

    def _heard_of(self, change: Applied) -> bool:
        """Tell whether events had named a folder before a re-scan found it changed.

        What changed before the watch was on could not be heard of, and is not missed.
        """
        was_announced = Unit(change.root, _unit(change.root, change.path)) in self._settle
        return (
            was_announced
            or self._passes.granted[0].trigger == "start"
            or bool(self._passes.mendings)  # it finds what it was told to doubt
            or self._supervision.mode == "polling"
        )

    def _unsettled(self, report: Report) -> set[Unit]:
        """Return what to come back to: folders that are still changing."""
        return {Unit(root, _unit(root, path)) for root, path in report.unsettled}

    def _show_pending(self, report: Report) -> None:
        """Show the folders that take too long to settle."""
        now = time.monotonic()
        for root, path in report.unsettled:
            since = self._settle.overdue(Unit(root, _unit(root, path)), now)
            why = report.failures.get(Unit(root, path))
            if since is not None or why:
                show_pending(
                    self._store,
                    self._roots,
                    Unit(root, path),
                    _now() - timedelta(seconds=now - (since or now)),
                    why,
                )

    def _tell(self, report: Report, delay: float) -> None:
        """Log what was found, and see to it that the indexes follow."""
        if self._journal.tell(report):  # the first change shows at once, the next ones together
            after = max(time.monotonic(), self._published + delay)
            self._publish_after = min(after, self._publish_after or after)

    def _publish(self) -> None:
        if self._publish_after is None or time.monotonic() < self._publish_after:
            return
        for name in publish_indexes(
            self._store,
            self._settings.index_specs,
            self._settings.index_folder,
            _now(),
            self._settings.retention.of_indexes,
        ):
            log.info("published index %s", name)
        self._publish_after, self._published = None, time.monotonic()


def _unit(root: str, path: str) -> str:
    """Return what a folder settles as; one in an archive settles as that."""
    path = archive_of(path) or path
    return walk.unit_of(Path(root), model_paths.os_path(f"{root}/{path}")) or path


def _until(moment: float | None, now: float) -> float | None:
    return None if moment is None else moment - now


def _now() -> datetime:
    return datetime.now(UTC)
