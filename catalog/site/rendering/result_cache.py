"""Results of work on texts that are kept for the next visitor, up to a size in all."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class ResultCache(Generic[T]):
    """The latest results by key; the one not asked for longest goes first.

    Used by one thread at a time: that of `aside`.
    """

    def __init__(self, most: int, size: Callable[[T], int]) -> None:
        """Take the size that all results may have together, and how large one is."""
        self._most, self._size = most, size
        self._results: dict[Hashable, T] = {}
        self._held = 0

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of a key, made now where it is not kept."""
        if key in self._results:
            result = self._results.pop(key)
        else:
            result = make()
            self._held += self._size(result)
        self._results[key] = result
        while self._held > self._most and self._results:
            oldest = next(iter(self._results))
            self._held -= self._size(self._results.pop(oldest))
        return result
