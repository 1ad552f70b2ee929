"""Cache of results of work on texts, limited by total size."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class ResultCache(Generic[T]):
    """Least-recently-used cache; only the thread of `aside` uses it."""

    def __init__(self, most: int, size: Callable[[T], int]) -> None:
        """Take the limit on the total size, and the function that measures a result."""
        self._most, self._size = most, size
        self._results: dict[Hashable, T] = {}
        self._total = 0

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result for a key; make it if it is not cached."""
        if key in self._results:
            result = self._results.pop(key)
        else:
            result = make()
            self._total += self._size(result)
        self._results[key] = result
        while self._total > self._most and self._results:
            oldest = next(iter(self._results))
            self._total -= self._size(self._results.pop(oldest))
        return result
