"""Watch of the service: hints from events, and scans of everything where events may be missing."""

import time
from datetime import UTC, datetime
from functools import partial

from catalog.model.trouble import Problem
from pipeline.config.settings import Settings
from pipeline.service.heartbeat import Heartbeat
from pipeline.service.parts import NEVER, Loop, Part, Work
from pipeline.service.scans import ScanRequest
from pipeline.watch.supervisor import ModeChange, WatchSupervisor


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
