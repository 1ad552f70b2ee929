"""Verification of published packages, a few at a time, while the service is idle."""

import time
from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from catalog.writing.packages.builder import Key
from pipeline.service.parts import NEVER, Work

SHARE = 0.1
"""Share of idle time for verification."""
IDLE = 0.1
"""Seconds without other work that a step needs: no change should have to wait for one."""


class PackageCheck:
    """Verification in progress; times are seconds of the monotonic clock."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._steps: Iterator[Collection[Key]] = iter(())
        self._due = NEVER

    def begin(self) -> None:
        """Begin with the packages whose last verification is the oldest."""
        self._steps = self._work.store.repair.verify(lambda: datetime.now(UTC))
        self._due = time.monotonic()

    def seconds_to_next(self, now: float) -> float:
        """Return the seconds until the next step; other work in less than IDLE postpones it."""
        if self._work.scans.is_wanted:
            return NEVER
        next_change = self._work.units.seconds_to_next(now)
        if self._due <= now and next_change is not None and next_change < IDLE:
            self._due = now + IDLE
        return max(0.0, self._due - now)

    def step(self) -> None:
        """Verify a few packages; the skills of those that cannot be repaired are scanned again.

        The pause before the next step keeps verification within SHARE.
        """
        began, self._due = time.monotonic(), NEVER
        repaired = self._work.store.repair.count
        keys = next(self._steps, None)
        if keys is None:
            return
        self._due = began + (time.monotonic() - began) / SHARE
        self._work.units.scan_again(keys)
        if self._work.store.repair.count != repaired:  # those beyond repair are not published
            self._work.publication.publish_now()
