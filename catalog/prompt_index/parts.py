"""Parts of a build that the next build of the same index takes over where they are the same."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

MOST = 4_000
"""Parts that are kept, at most: in 16,000 characters there are names of 900 skills."""

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Parts(Generic[K, V]):
    """Values by all that they are made from; those that a build does not use are dropped."""

    def __init__(self) -> None:
        """Start without values."""
        self._before: dict[K, V] = {}
        self._now: dict[K, V] = {}

    def begin(self) -> None:
        """Begin the next build."""
        self._before, self._now = self._now, {}

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key; make it if neither this build nor the last one did."""
        value = self._now.get(key)
        if value is None:
            value = self._before.get(key)
            if value is None:
                value = make()
            if len(self._now) < MOST:
                self._now[key] = value
        return value
