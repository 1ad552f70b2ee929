"""Cache of results of work on texts, limited by total size."""

from collections.abc import Callable, Hashable
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

from catalog.database.queries import Database
from catalog.reading import catalog_state, facet_counts, filters

T = TypeVar("T")


class ResultCache(Generic[T]):
    """Least-recently-used cache; threads that need a result wait for the one that makes it."""

    def __init__(self, most: int, size: Callable[[T], int]) -> None:
        """Take the limit on the total size, and the function that measures a result."""
        self._most, self._size = most, size
        self._results: dict[Hashable, tuple[Hashable, T]] = {}  # with their states
        self._total = 0
        self._lock = Lock()  # never held during work
        self._making: dict[Hashable, Lock] = {}

    def get(self, key: Hashable, make: Callable[[], T], state: Hashable = None) -> T:
        """Return the result for a key; make it if none of this state is cached."""
        with self._lock:
            if result := self._cached(key, state):
                return result[0]
            making = self._making.setdefault(key, Lock())
        with making:
            try:
                with self._lock:
                    if result := self._cached(key, state):
                        return result[0]
                result = (make(),)
                with self._lock:
                    self._keep(key, state, *result)
                return result[0]
            finally:
                with self._lock:
                    self._making.pop(key, None)

    def _cached(self, key: Hashable, state: Hashable) -> tuple[T] | None:
        if key not in self._results or self._results[key][0] != state:
            return None
        self._results[key] = self._results.pop(key)  # now the last one
        return (self._results[key][1],)

    def _keep(self, key: Hashable, state: Hashable, result: T) -> None:
        self._drop(key)
        self._results[key] = state, result
        self._total += self._size(result)
        while self._total > self._most and self._results:
            self._drop(next(iter(self._results)))

    def _drop(self, key: Hashable) -> None:
        if key in self._results:
            self._total -= self._size(self._results.pop(key)[1])


def of_state(db: Database, place: Path, key: Hashable, make: Callable[[], T]) -> T:
    """Return a result that holds until the catalog at a place changes; it must not be changed."""
    result: T = _OF_STATES.get((place, key), make, catalog_state.of(db))
    return result


def facets(
    db: Database, place: Path, wanted: filters.Filters, match: str = ""
) -> tuple[dict[str, facet_counts.Facet], int]:
    """Return the values of filters with their numbers, and the number of skills."""
    key = ("facets", wanted, match)
    return of_state(db, place, key, lambda: facet_counts.of(db, wanted, match))


_OF_STATES: ResultCache[Any] = ResultCache(200, lambda _: 1)
"""Results, each for the newest state in which it was asked for."""
