"""Verification of published packages, a few at a time, while there is nothing else to do."""

import time
from collections.abc import Collection, Iterator
from datetime import UTC, datetime

from catalog.writing.packages.builder import Key
from catalog.writing.store import Store

SHARE = 0.1
"""Share of the idle time that verification may take."""


class PackageCheck:
    """The verification that is under way; moments are seconds of the monotonic clock."""

    def __init__(self) -> None:
        self._steps: Iterator[Collection[Key]] = iter(())
        self.due: float | None = None
        """The moment of the next step; None where there is none."""

    def begin(self, store: Store) -> None:
        """Begin to verify the packages whose last check is the oldest."""
        self._steps = store.repair.verify(lambda: datetime.now(UTC))
        self.due = time.monotonic()

    def step(self) -> Collection[Key]:
        """Verify a few packages; return the skills to look at again.

        The next step follows after a pause that keeps to SHARE.
        """
        began, self.due = time.monotonic(), None
        keys = next(self._steps, None)
        if keys is None:
            return ()
        self.due = began + (time.monotonic() - began) / SHARE
        return keys
