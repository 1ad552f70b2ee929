"""Watch of the service: hints from events, and scans of everything where events may be missing."""

import gc
import logging
import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from apscheduler.triggers.interval import IntervalTrigger

from catalog.database.connection import FileCheck, explained
from catalog.filesystem import token_file
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.errors import CatalogDamaged, Problem
from catalog.text.humanize import count
from catalog.text.suggestions import few
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.service import heartbeat
from pipeline.service.heartbeat import BEAT, Heartbeat, Troubles
from pipeline.service.open_catalog import open_store
from pipeline.service.parts import NEVER, Loop, PackageCheck, Part, Work, each_turn, every
from pipeline.service.requests import RequestRunner
from pipeline.service.scanning.engines import processes
from pipeline.service.scanning.scanner import import_rules
from pipeline.service.scans import ScanRequest
from pipeline.watch.settling import WatchUnit
from pipeline.watch.supervisor import ModeChange, WatchSupervisor

if TYPE_CHECKING:
    from catalog.site.server.process import SiteProcess

log = logging.getLogger("skilldrop")

TICK = 1.0
"""Seconds between two checks of the watcher and the site, which cannot report by themselves."""
FILE_CHECK = 60.0
"""Seconds after which a catalog file that was written, perhaps by another program, is checked."""
COLLECT_EVERY = 600.0
"""Seconds between two removals of expired packages."""
JITTER = 0.05
"""Part of an interval by which a run may be later, so that services do not pull all at once."""


class Timer:
    """Times of a part at regular intervals, by a trigger of APScheduler on the monotonic clock.

    So a change of the system clock delays nothing, and missed runs are one.
    """

    def __init__(self, seconds: float) -> None:
        self._trigger = IntervalTrigger(seconds=seconds, jitter=seconds * JITTER, timezone=UTC)
        self._next = self._after(time.monotonic())

    @property
    def next_run(self) -> datetime:
        """The time of the next run, by the system clock."""
        return _now() + timedelta(seconds=self._next - time.monotonic())

    def part(self, name: str, step: Callable[[], object]) -> Part:
        """Return a part that is due at these times."""

        def stepped() -> None:
            self._next = self._after(time.monotonic())
            step()

        return Part(name, lambda now: max(0.0, self._next - now), stepped)

    def _after(self, last: float) -> float:
        moment = datetime.fromtimestamp(last, UTC)
        return float(self._trigger.get_next_fire_time(moment, moment).timestamp())


class Service:
    """Watcher and site around the loop that does all the work.

    `run` closes the catalog at its end. A catalog that is lost is replaced, with all of its work.
    """

    def __init__(self, settings: Settings, store: Store, site: "SiteProcess | None" = None) -> None:
        self._settings = settings
        self._store = store
        self._site = site
        self._loop = Loop()
        self._troubles = Troubles()
        self._rescans = Timer(settings.rescan_every)
        self._heartbeat = Heartbeat(self._troubles, site, lambda: self._rescans.next_run)
        self._watching = Watching(settings, self._loop, self._heartbeat)
        self._file_check = FileCheck(settings.catalog_path)
        self._first_parts = [
            every("systemd", TICK, partial(heartbeat.notify, "WATCHDOG=1")),
            every("file check", FILE_CHECK, lambda: self._file_check.begin(if_written=True)),
        ]
        catalog = every("catalog", TICK, self._keep_catalog)
        self._first_parts.append(
            catalog._replace(due=lambda now: 0.0 if self._damage else catalog.due(now))
        )
        self._parts: Sequence[Part] = ()  # none while there is no catalog
        self._stopping = False
        self._damage: str | None = None  # of the catalog, which is rebuilt at the next turn
        self._identity: str | None = None  # of the catalog, also after it was lost

    def stop(self) -> None:
        """Ask the service to end; safe in a signal handler."""
        self._stopping = True
        self._loop.wake()

    def wake(self) -> None:
        """Look for requests now; safe in a signal handler."""
        self._loop.wake()

    def rescan(self) -> None:
        """Request a full scan, from any thread."""
        self._loop.call(lambda: self._work.scans.request(ScanRequest("re-scan")))

    def run(self, begun: Callable[[], None] = lambda: None) -> None:
        """Watch, scan and publish until stopped; call `begun` once everything has started.

        Raises SkilldropError before `begun`.
        """
        try:
            with explained(self._settings.catalog_path):
                self._begin(self._store)
                if self._site:
                    self._site.start()
            import_rules()  # the first change would have to wait for them
            gc.freeze()  # else some changes wait 50 ms for a full collection
            begun()
            heartbeat.notify("READY=1")
            self._loop.run(
                self._due_parts,
                self._step,
                lambda: self._stopping,
                lambda part, now: self._troubles.seconds_to_try(part.name, now),
            )
        finally:
            heartbeat.notify("STOPPING=1")
            self._watching.supervisor.stop()
            if self._site:
                self._site.stop()
            self._work.stop()
            with suppress(sqlite3.Error):  # the catalog may be locked, full or closed
                self._heartbeat.end(self._store, _now())
            self._store.close()

    def _begin(self, store: Store) -> None:
        """Begin the work on a catalog: at the start, or when the last one was lost."""
        settings = self._settings
        self._store, self._identity = store, store.folders.identity
        self._work = work = Work(
            settings,
            store,
            self._loop,
            engine=processes,
            is_polling=lambda: self._watching.supervisor.mode == "polling",
            must_stop=lambda: self._stopping,
            scanned=self._scanned,
            failed=lambda error: self._requests.failed(error),
        )
        self._heartbeat.begin(store, _now())
        self._requests = requests = RequestRunner(work)
        self._package_check = check = PackageCheck(work)
        supervisor = self._watching.supervisor
        unpublished = partial(self._troubles.message, "indexes")
        quiet = Part(
            "quiet",
            each_turn,
            lambda: self._heartbeat.note_quiet(work, is_unsure=supervisor.needs_count),
            BEAT,
        )
        with store.folders.opened(OwnedFolder(settings.outcomes_folder, "outcomes")):
            pass  # create the folder, so that it can be watched
        work.pulls.begin()
        work.scans.request(ScanRequest("start"))
        self._watching.begin(work)
        self._parts = [
            every("watcher", TICK, self._watching.keep),
            *([every("site", TICK, partial(_keep_running, self._site))] if self._site else []),
            Part("requests", each_turn, requests.grant),
            every("tokens", BEAT, partial(_check_tokens, settings.tokens_path), BEAT),
            every("current", TICK, store.packager.switch_current),
            every("skills", TICK, partial(_find_taken, store, settings.skills_folder)),
            every("unread", TICK, partial(_find_unread, store, settings.settle_longest)),
            quiet,  # before the next changes become visible
            self._watching.polls(),
            self._rescans.part("re-scan", self.rescan),
            Timer(COLLECT_EVERY).part("collect", work.collect),
            *(
                Timer(seconds).part(f"pull {mirror.root}", partial(work.pulls.start, mirror.root))
                for mirror, seconds in settings.git_roots
            ),
            *work.parts(),
            quiet,
            Part("packages", check.seconds_to_next, check.step),
            Part(
                "answers",
                lambda _: None if work.publication.due is None or unpublished() else NEVER,
                lambda: requests.answer(unpublished()),
            ),
            Part(
                "heartbeat",
                self._heartbeat.due,
                lambda: self._heartbeat.beat(store, work.units.count, _now()),
                BEAT,
            ),
        ]

    def _scanned(self, again: Collection[WatchUnit]) -> None:
        """Finish a full scan, except for units that are scanned again."""
        self._requests.scanned(again)
        if not all(request.is_poll for request in self._work.scans.granted):
            self._store.links.check_all()
            self._file_check.begin()
            self._package_check.begin()
        self._watching.scanned()

    def _due_parts(self) -> Iterator[Part]:
        """Yield the parts; the first may replace the catalog, and so the others."""
        yield from self._first_parts
        yield from self._parts

    def _step(self, part: Part) -> None:
        """Step a part; one that fails is tried again and stops no other."""

        def explained_step() -> Problem | None:
            with explained(self._settings.catalog_path):
                return part.step()

        try:
            self._troubles.attempt(part.name, explained_step, part.longest)
        except CatalogDamaged as error:
            if self._parts:
                self._damage = str(error)  # it is rebuilt at once
            else:
                self._troubles.failed(part.name, str(error), time.monotonic(), _now(), part.longest)

    def _keep_catalog(self) -> None:
        """Start a new catalog if the file was deleted, replaced or damaged."""
        if self._parts:
            self._damage = self._damage or self._file_check.damage
            if not self._damage and self._store.is_in_place():
                return
            if not self._damage:
                log.error(
                    "%s was deleted or replaced; rebuilding the catalog from the roots",
                    self._settings.catalog_path,
                )
            self._parts = ()
            try:
                self._work.stop()
            finally:
                self._store.close()
            self._file_check = FileCheck(self._settings.catalog_path)
            if self._site:
                self._site.stop()
        damage, self._damage = self._damage, None  # the damaged file is kept only once
        store = open_store(self._settings, damage=damage, identity=self._identity)
        try:
            self._begin(store)
        except BaseException:
            store.close()
            raise


class Watching:
    """The supervised watch of all roots; `begin` directs its hints to the work on a catalog."""

    def __init__(self, settings: Settings, loop: Loop, heartbeat: Heartbeat) -> None:
        self._heartbeat = heartbeat
        self.supervisor = WatchSupervisor(
            [  # a mirror changes only by a pull
                *(root.path for root in settings.root_specs if not root.origin),
                str(settings.outcomes_folder),
            ],
            # The hint has its time, as the loop may be at work.
            lambda path: loop.call(partial(self._hint, path, time.monotonic())),
            poll_every=settings.poll_every,
            only_polls=settings.follow == "polling",
        )

    def begin(self, work: Work) -> None:
        """Start to watch, for the work on a catalog."""
        self._work = work
        self._change(self.supervisor.begin(time.monotonic()))

    def keep(self) -> Problem | None:
        """Look after the watch; return why changes are polled."""
        now = time.monotonic()
        change = self.supervisor.check(now)
        if not change and self.supervisor.needs_count and not len(self._work.units):
            change = self.supervisor.check_all_heard(now)
        self._change(change)
        return self.supervisor.trouble

    def polls(self) -> Part:
        """Return the part that scans everything where no events are received."""

        def due(now: float) -> float:
            return NEVER if self._work.scans.is_wanted else self.supervisor.seconds_to_poll(now)

        def step() -> None:
            self._work.scans.request(ScanRequest("re-scan", is_poll=True))

        return Part("scan", due, step)

    def scanned(self) -> None:
        """Note the end of a full scan, after which all directories must be watched."""
        self.supervisor.polled(time.monotonic())
        if not len(self._work.units):
            self._change(self.supervisor.check_all_heard(time.monotonic()))

    def _hint(self, path: str, at: float) -> None:
        """Take a hint that something may have changed at a path."""
        if not self._work.outcomes.hint(path, at) and self._work.units.hint(path, at):
            self._heartbeat.last_event = datetime.now(UTC)

    def _change(self, change: ModeChange | None) -> None:
        """Record a change of the watcher mode, and scan for changes that were missed."""
        if change:
            self._work.scans.request(ScanRequest("re-scan"))
            self._heartbeat.note_mode(change, datetime.now(UTC))


def _keep_running(site: "SiteProcess") -> Problem | None:
    if site.pid is None:  # it was stopped with the former catalog
        site.start()
    site.ensure_running(time.monotonic())
    return Problem(site.trouble, site.failures, site.next_start) if site.trouble else None


def _check_tokens(file: Path) -> None:
    token_file.load(file)  # the site refuses everybody while that fails


def _find_taken(store: Store, folder: Path) -> Problem | None:
    names = store.links.taken()
    if not names:
        return None
    return Problem(
        f"{folder} has entries that skilldrop did not make under the names of skills, so these "
        f"skills are not there: {few(names)}. Move the entries away.",
        len(names),
    )


def _find_unread(store: Store, longest: float) -> Problem | None:
    if not (unread := store.skills.pending_since(_now() - timedelta(seconds=longest))):
        return None
    root, path, reason = unread[0]
    folders = f"{count(len(unread), 'folder')}, such as {root}/{path},"
    return Problem(f"{folders} cannot be taken in: {reason.rstrip('.')}.", len(unread))


def _now() -> datetime:
    return datetime.now(UTC)
