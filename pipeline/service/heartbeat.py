"""Heartbeats of the service, for the catalog, a file beside it and systemd."""

import os
import socket
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from catalog.database import stored_health
from catalog.model.paths import os_path
from catalog.model.trouble import Problem
from catalog.site.server.process import SiteProcess
from catalog.text.humanize import iso
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.service.parts import NEVER, Work
from pipeline.service.scanning.synchronizer import can_list_all
from pipeline.service.scans import ScanRequest
from pipeline.service.troubles import Troubles
from pipeline.watch.supervisor import ModeChange


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


BEAT = 5.0
"""Seconds between two heartbeats."""
QUARANTINE_SPAN = timedelta(days=1)
"""Time for which a quarantined outcome file needs attention, unless it is moved away."""
QUARANTINE_LIMIT = 100
"""Most quarantined files that are counted."""


class Heartbeat:
    """Writer of the health row and the health file."""

    def __init__(
        self, settings: Settings, troubles: Troubles, site: SiteProcess | None = None
    ) -> None:
        self._settings = settings
        self._site = site
        self._troubles = troubles
        self._fields: dict[str, Any] = {}  # not written yet
        self._overflows = 0  # not counted in the catalog yet
        self.last_event: datetime | None = None  # in a root
        self._last_beat: datetime | None = None  # in the catalog
        self._next = 0.0
        self._is_quiet = self._awaits_checkpoint = False

    def begin(self, store: Store, at: datetime) -> None:
        """Record in the catalog that the service has started."""
        store.health.set(
            service_pid=os.getpid(),
            service_started=at,
            service_seen=at,
            service_stopped=None,
            quiet_since=None,
            site_host=self._site and self._site.host,
            site_port=self._site and self._site.port,
        )
        self._last_beat = at
        self._is_quiet = self._awaits_checkpoint = False
        store.health.set_troubles(self._troubles.all())

    def end(self, store: Store, at: datetime) -> None:
        """Record in the catalog that the service has stopped."""
        store.health.set(
            watcher_mode="stopped", service_pid=None, service_stopped=at, quiet_since=None
        )
        store.health.set_troubles([])

    def note_mode(self, change: ModeChange, at: datetime) -> None:
        """Note a change of the watcher mode."""
        self._overflows += change.has_overflowed
        self._fields |= {
            "watcher_mode": change.mode,
            "watcher_since": at,
            "watcher_reason": change.reason,
        }

    def hurry(self) -> None:
        """Make the next heartbeat due."""
        self._next = 0.0

    def due(self, now: float) -> float | None:
        """Return None if a heartbeat is due at a time of the monotonic clock; otherwise NEVER."""
        is_due = now >= self._next or self._fields or self._troubles.has_changed
        return None if is_due else NEVER

    def beat(self, store: Store, pending: int, at: datetime) -> None:
        """Write the heartbeat and all problems into the catalog and the file beside it.

        `pending` is the number of waiting folders.
        """
        self._next = time.monotonic() + BEAT
        self.write_beside(at)
        for _ in range(self._overflows):
            store.health.count_overflow()
            self._overflows -= 1
        store.health.set(
            service_seen=at,
            last_event=self.last_event,
            pending_count=pending,
            held_removals=store.removals.held(),
            **self._fields,
        )
        self._last_beat = at
        self._fields.clear()
        if self._troubles.has_changed:
            store.health.set_troubles(self._troubles.all())
            self._troubles.has_changed = False

    def write_beside(self, at: datetime) -> None:
        """Write the file beside the catalog, which works even on a full disk; ignore errors."""
        with suppress(OSError):
            stored_health.write_file(
                self._settings.catalog_path,
                os.getpid(),
                iso(at),
                iso(self._last_beat) if self._last_beat else None,
                self._troubles.all(),
            )

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
            work.store.health.set(quiet_since=now if is_quiet else None)
            self._is_quiet = is_quiet
            self.beat(work.store, work.units.count, now)
            self._awaits_checkpoint = is_quiet  # nothing waits for it now
        if self._awaits_checkpoint:
            self._awaits_checkpoint = not work.store.checkpoint()


def quarantined(store: Store, settings: Settings, at: datetime) -> Problem | None:
    """Return a problem if outcome files were quarantined recently and are still there."""
    folder = settings.outcomes_folder
    paths = [
        path
        for path, _ in store.outcomes.quarantined_since(at - QUARANTINE_SPAN, QUARANTINE_LIMIT)
        if (folder / os_path(path)).exists()
    ]
    if not paths:
        return None
    return Problem(
        f"{len(paths)} quarantined in the last day: {', '.join(paths[:3])}"
        f"{' and others' if len(paths) > 3 else ''} in {folder}.",
        len(paths),
    )
