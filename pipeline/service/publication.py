"""Publication of the prompt indexes: at once after a quiet time, in groups during many changes."""

import logging
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from catalog.model.event import Event
from catalog.writing.store import Store
from pipeline.config.settings import Settings

log = logging.getLogger("skilldrop")

PUBLISH_EVERY = 1.0
"""Seconds between two publications while a long scan goes on."""


class Publication:
    """Time of the next publication of all indexes, in seconds of the monotonic clock."""

    def __init__(self, settings: Settings, store: Store) -> None:
        """Make a publication due now: index files may be missing."""
        self._settings = settings
        self._store = store
        self._last = 0.0
        self.due: float | None = 0.0
        """Time of the next publication; None if nothing has changed."""

    def publish_now(self) -> None:
        """Make a publication due now."""
        self.due = 0.0

    def changed(self, events: Sequence[Event]) -> None:
        """Make a publication due: the first change shows at once, the next ones together."""
        is_scan = any(event.trigger != "event" for event in events)
        delay = PUBLISH_EVERY if is_scan else self._settings.index_delay
        after = max(time.monotonic(), self._last + delay)
        self.due = after if self.due is None else min(after, self.due)

    def step(self) -> None:
        """Publish the indexes."""
        for name in publish(self._settings, self._store, datetime.now(UTC)):
            log.info("published index %s", name)
        self.due, self._last = None, time.monotonic()


def publish(settings: Settings, store: Store, at: datetime) -> list[str]:
    """Rebuild the configured indexes; return the names of those with a new text. Raises OSError."""
    return store.publish_indexes(settings.indexes, settings.index_folder, at, settings.retention)
