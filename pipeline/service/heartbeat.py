"""Signs of life of the service: in the health row of the catalog, and in the file beside it."""

import os
import time
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from catalog.database import stored_health
from catalog.model.paths import os_path
from catalog.model.trouble import Problem
from catalog.text.times import iso
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.service.troubles import Troubles
from pipeline.watch.supervisor import ModeChange

BEAT = 5.0
"""Seconds between two signs of life."""
QUARANTINE_SPAN = timedelta(days=1)
"""Time for which a quarantined outcome file needs attention, unless somebody moves it away."""
QUARANTINE_LIMIT = 100
"""Quarantined files that are looked for."""


class Heartbeat:
    """The health row, as the service keeps it."""

    def __init__(self, settings: Settings, troubles: Troubles) -> None:
        self._settings = settings
        self._troubles = troubles
        self._fields: dict[str, Any] = {}  # that are not written yet
        self._overflows = 0  # that are not counted yet
        self._last_event: datetime | None = None
        self._seen: datetime | None = None  # the last sign of life in the catalog
        self._next = 0.0

    def begin(self, store: Store, at: datetime) -> None:
        """Write that the service has started on this catalog."""
        store.health.set(
            service_pid=os.getpid(),
            service_started=at,
            service_seen=at,
            service_stopped=None,
            quiet_since=None,
        )
        self._seen = at
        store.health.set_troubles(self._troubles.all())

    def end(self, store: Store, at: datetime) -> None:
        """Write that the service has ended."""
        store.health.set(
            watcher_mode="stopped", service_pid=None, service_stopped=at, quiet_since=None
        )
        store.health.set_troubles([])

    def note_event(self, at: datetime) -> None:
        """Note when the last event of a root arrived."""
        self._last_event = at

    def note_mode(self, turn: ModeChange, at: datetime) -> None:
        """Note how changes are noticed from now on."""
        self._overflows += turn.has_overflowed
        self._fields |= {
            "watcher_mode": turn.mode,
            "watcher_since": at,
            "watcher_reason": turn.reason,
        }

    def hurry(self) -> None:
        """Make the next sign of life due."""
        self._next = 0.0

    def is_due(self, now: float) -> bool:
        """Tell whether a sign of life is due at a moment of the monotonic clock."""
        return now >= self._next or bool(self._fields) or self._troubles.has_changed

    def beat(self, store: Store, pending: int, at: datetime) -> None:
        """Write that the service lives and what is wrong, beside the catalog and in it.

        pending is the number of folders that wait.
        """
        self._next = time.monotonic() + BEAT
        self.write_beside(at)
        for _ in range(self._overflows):
            store.health.count_overflow()
            self._overflows -= 1
        store.health.set(
            **{
                "service_seen": at,
                "last_event": self._last_event,
                "pending_count": pending,
                "held_removals": store.removals.held(),
                **self._fields,
            }
        )
        self._seen = at
        self._fields.clear()
        if self._troubles.has_changed:
            store.health.set_troubles(self._troubles.all())
            self._troubles.has_changed = False

    def write_beside(self, at: datetime) -> None:
        """Write the file beside the catalog, which a full disk allows; without it go on."""
        with suppress(OSError):
            stored_health.write_file(
                self._settings.catalog_path,
                os.getpid(),
                iso(at),
                iso(self._seen) if self._seen else None,
                self._troubles.all(),
            )


def quarantined(store: Store, settings: Settings, at: datetime) -> Problem | None:
    """Return the problem of outcome files that were quarantined lately and still lie there."""
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
        f"{' and others' if len(paths) > 3 else ''}, in {folder}.",
        len(paths),
    )
