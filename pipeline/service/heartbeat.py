"""Health of the service: the problems of its parts, and the heartbeats that store them."""

import logging
import os
import re
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from catalog.model.errors import (
    CatalogBusy,
    CatalogDamaged,
    Problem,
    SkilldropError,
    Trouble,
)
from catalog.text.humanize import iso
from catalog.writing.store import Store
from pipeline.roots import internal_errors
from pipeline.service.parts import NEVER, Work
from pipeline.service.scanning.synchronizer import can_list_all
from pipeline.service.scans import ScanRequest
from pipeline.watch.supervisor import ModeChange

if TYPE_CHECKING:
    from catalog.site.server.process import SiteProcess

log = logging.getLogger("skilldrop")

FIRST_PAUSE = 5.0
"""Seconds until the first retry after a failure; the pause doubles after each failure …"""
LONGEST_PAUSE = 240.0
"""… up to this limit."""
_HOOK = "hook "  # in the names of the parts that deliver to hooks
_NUMBERS = re.compile(r"\d[\d.,-]*")


class Troubles:
    """Current problems by part; `now` is seconds on the monotonic clock, `at` the time of day."""

    def __init__(self) -> None:
        self._troubles: dict[str, Trouble] = {}
        self._next_try: dict[str, float] = {}  # of the parts that wait for it
        self.has_changed = False
        """Whether anything has changed since this was last set to False."""

    def attempt(
        self, part: str, work: Callable[[], Problem | None], longest: float | None = None
    ) -> None:
        """Do a part of the work, unless it waits for its next try, and record failures.

        A part that handles its own retries returns its problem. Raises CatalogBusy and
        CatalogDamaged.
        """
        if self.seconds_to_try(part, time.monotonic()):
            return
        try:
            problem = work()
        except (CatalogBusy, CatalogDamaged):
            raise
        except Exception as error:  # noqa: BLE001  # one part must not stop the others
            message = self._message(part, error)
            self.failed(part, message, time.monotonic(), datetime.now(UTC), longest)
        else:
            if problem:
                self.reported(part, problem, time.monotonic(), datetime.now(UTC))
            else:
                self.over(part)

    def _message(self, part: str, error: Exception) -> str:
        """Return a sentence about an error; log the traceback of a mistake of skilldrop."""
        if isinstance(error, SkilldropError):
            return str(error)
        if isinstance(error, MemoryError):
            return "There is not enough memory for this work."
        message = internal_errors.sentence(error)
        if not self._is_logged(message):
            log.error("%s failed.", part.capitalize(), exc_info=error)
        return message

    def seconds_to_try(self, part: str, now: float) -> float:
        """Return the seconds until a part may be tried; 0 if it may be tried now."""
        return max(0.0, self._next_try.get(part, now) - now)

    def failed(
        self, part: str, message: str, now: float, at: datetime, longest: float | None = None
    ) -> None:
        """Record a failure; the next try follows after a pause.

        The pause is at most `longest` seconds, by default LONGEST_PAUSE.
        """
        times = 1 + (self._troubles[part].times if part in self._troubles else 0)
        pause: float = min(FIRST_PAUSE * 2 ** min(times - 1, 16), longest or LONGEST_PAUSE)
        if not self._is_logged(message):
            log.error("%s Trying again in %g s.", message, pause)
        self._next_try[part] = now + pause
        self._note(part, Problem(message, times, now + pause), now, at)

    def reported(self, part: str, problem: Problem, now: float, at: datetime) -> None:
        """Record a problem of a part that retries by itself, and logs it unless it is a hook."""
        self._next_try.pop(part, None)
        known = self._troubles.get(part)
        if _HOOK in part and not known:
            log.error("%s", problem.message)
        if not known or (known.message, known.times) != (problem.message, problem.times):
            self._note(part, problem, now, at)

    def over(self, part: str) -> None:
        """Record that a part has succeeded or had nothing to do."""
        known = self._troubles.pop(part, None)
        self.has_changed |= known is not None
        waited = self._next_try.pop(part, None) or _HOOK in part
        if waited and known and not self._is_logged(known.message):
            log.info("Resolved: %s", known.message)

    def all(self) -> list[Trouble]:
        """Return all current problems, oldest first."""
        return sorted(self._troubles.values(), key=lambda trouble: (trouble.since, trouble.part))

    def message(self, part: str) -> str | None:
        """Return the sentence on the problem of a part, if it has one."""
        return self._troubles[part].message if part in self._troubles else None

    def _note(self, part: str, problem: Problem, now: float, at: datetime) -> None:
        known, (message, times, next_try) = self._troubles.get(part), problem
        next_at = None if next_try is None else iso(at + timedelta(seconds=next_try - now))
        since = known.since if known else iso(at)
        self._troubles[part] = Trouble(part, message, since, times, iso(at), next_at)
        self.has_changed = True

    def _is_logged(self, message: str) -> bool:
        """Return whether the message is logged already, perhaps for another part.

        Messages that differ only in numbers, such as free bytes, count as the same.
        """
        return any(
            _NUMBERS.sub("", trouble.message) == _NUMBERS.sub("", message)
            for trouble in self._troubles.values()
        )


BEAT = 5.0
"""Seconds between two heartbeats."""


class Heartbeat:
    """Writer of the health row."""

    def __init__(
        self,
        troubles: Troubles,
        site: "SiteProcess | None" = None,
        next_scan: Callable[[], datetime | None] = lambda: None,
    ) -> None:
        self._site, self._next_scan = site, next_scan
        self._troubles = troubles
        self._fields: dict[str, Any] = {}  # not written yet
        self._overflows = 0  # not counted in the catalog yet
        self.last_event: datetime | None = None  # in a root
        self._next = 0.0
        self._is_quiet = self._awaits_checkpoint = False

    def begin(self, store: Store, at: datetime) -> None:
        """Record in the catalog that the service has started."""
        store.set_health(
            service_pid=os.getpid(),
            service_started=at,
            service_seen=at,
            service_stopped=None,
            quiet_since=None,
            site_host=self._site and self._site.host,
            site_port=self._site and self._site.port,
            troubles=self._troubles.all(),
        )
        self._is_quiet = self._awaits_checkpoint = False

    def end(self, store: Store, at: datetime) -> None:
        """Record in the catalog that the service has stopped."""
        store.set_health(
            watcher_mode="stopped",
            service_pid=None,
            service_stopped=at,
            next_full_scan=None,
            quiet_since=None,
            troubles=[],
        )

    def note_mode(self, change: ModeChange, at: datetime) -> None:
        """Note a change of the watcher mode."""
        self._overflows += change.has_overflowed
        self._fields |= {
            "watcher_mode": change.mode,
            "watcher_since": at,
            "watcher_reason": change.reason,
        }

    def due(self, now: float) -> float | None:
        """Return None if a heartbeat is due at a time of the monotonic clock; otherwise NEVER."""
        is_due = now >= self._next or self._fields or self._troubles.has_changed
        return None if is_due else NEVER

    def beat(self, store: Store, pending: int, at: datetime) -> None:
        """Write the heartbeat and all problems into the catalog.

        `pending` is the number of waiting folders.
        """
        self._next = time.monotonic() + BEAT
        for _ in range(self._overflows):
            store.count_overflow()
            self._overflows -= 1
        store.set_health(
            service_seen=at,
            last_event=self.last_event,
            pending_count=pending,
            next_full_scan=self._next_scan(),
            held_removals=store.removals.held(),
            troubles=self._troubles.all(),
            **self._fields,
        )
        self._fields.clear()
        self._troubles.has_changed = False

    def note_quiet(self, work: Work, *, is_unsure: bool) -> None:
        """Store whether all known changes are scanned and published, if that has changed.

        Once all is quiet, write SQLite's log back. `is_unsure`: the watch may miss directories.
        """
        is_quiet = not (
            is_unsure
            or len(work.units)
            or len(work.outcomes)
            or work.takes_all_outcomes
            or work.scans.is_wanted
            or work.publication.due is not None
        )
        if is_quiet and work.store.takeover.is_under_way and can_list_all(work.settings.root_specs):
            # The last full scan found folders that were still changing.
            work.scans.request(ScanRequest("re-scan"))
            return
        if is_quiet != self._is_quiet:
            now = datetime.now(UTC)
            work.store.set_health(quiet_since=now if is_quiet else None)
            self._is_quiet = is_quiet
            self.beat(work.store, work.units.count, now)
            self._awaits_checkpoint = is_quiet  # nothing waits for it now
        if self._awaits_checkpoint:
            self._awaits_checkpoint = not work.store.checkpoint()


def notify(state: str) -> None:
    """Send a state such as READY=1 to the socket in NOTIFY_SOCKET; do nothing if it is not set.

    Source of the protocol: sd_notify(3).
    """
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.connect(f"\0{address[1:]}" if address[0] == "@" else address)
        sender.send(state.encode())
