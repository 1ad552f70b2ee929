"""Verification of published packages, a few at a time, while the service is idle."""

import time
from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from catalog.writing.packages.builder import Key
from catalog.writing.store import Store

SHARE = 0.1
"""Share of idle time for verification."""
IDLE = 0.1
"""Seconds without other work that a step needs: no change should have to wait for one."""


class PackageCheck:
    """Verification in progress; times are seconds of the monotonic clock."""

    def __init__(self) -> None:
        self._steps: Iterator[Collection[Key]] = iter(())
        self.due: float | None = None
        """Time of the next step; None if no verification is in progress."""

    def begin(self, store: Store) -> None:
        """Begin with the packages whose last verification is the oldest."""
        self._steps = store.repair.verify(lambda: datetime.now(UTC))
        self.due = time.monotonic()

    def is_due(self, now: float, next_work: float | None) -> bool:
        """Return whether a step is due; other work in less than IDLE seconds postpones it."""
        if self.due is None or self.due > now:
            return False
        if next_work is None or next_work >= IDLE:
            return True
        self.due = now + IDLE
        return False

    def step(self) -> Collection[Key]:
        """Verify a few packages; return the skills to scan again.

        The pause before the next step keeps verification within SHARE.
        """
        began, self.due = time.monotonic(), None
        keys = next(self._steps, None)
        if keys is None:
            return ()
        self.due = began + (time.monotonic() - began) / SHARE
        return keys
