"""Cache of results of work on texts, limited by total size."""

from collections.abc import Callable, Hashable
from pathlib import Path
from threading import RLock
from typing import Any, Generic, TypeVar

from catalog.database.queries import Database
from catalog.reading import catalog_state, facet_counts, filters

T = TypeVar("T")


class ResultCache(Generic[T]):
    """Least-recently-used cache; a result that one thread makes is waited for by the others."""

    def __init__(self, most: int, size: Callable[[T], int]) -> None:
        """Take the limit on the total size, and the function that measures a result."""
        self._most, self._size = most, size
        self._results: dict[Hashable, T] = {}
        self._total = 0
        self._lock = RLock()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result for a key; make it if it is not cached."""
        with self._lock:
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


def of_state(db: Database, place: Path, key: Hashable, make: Callable[[], T]) -> T:
    """Return a result that holds until the catalog at a place changes; it must not be changed."""
    result: T = _OF_STATES.get((place, catalog_state.of(db), key), make)
    return result


def facets(
    db: Database, place: Path, wanted: filters.Filters, match: str = ""
) -> tuple[dict[str, facet_counts.Facet], int]:
    """Return the values of filters with their numbers, and the number of skills."""
    sets = of_state(db, place, "sets", lambda: facet_counts.load(db))
    key = ("facets", wanted, match)
    return of_state(db, place, key, lambda: facet_counts.of(db, sets, wanted, match))


_OF_STATES: ResultCache[Any] = ResultCache(200, lambda _: 1)
"""Results for some states, of which only the newest are asked for again."""
