"""Work that failed, part by part: since when, how often, and when it is tried again."""

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from catalog.model.errors import CatalogBusy, CatalogDamaged, OutOfMemory, SkilldropError
from catalog.model.trouble import Problem, Trouble
from catalog.text.times import iso

log = logging.getLogger("skilldrop")

FIRST_PAUSE = 5.0
"""Seconds until work is tried again after it failed; twice as long after each failure …"""
LONGEST_PAUSE = 240.0
"""… and no longer than this."""
MEMORY_TRIES = 6
"""Times in a row that a part may fail for lack of memory: some minutes, until the service ends."""
_NUMBERS = re.compile(r"\d[\d.,-]*")


@dataclass(frozen=True, slots=True)
class _Failed:
    """A part whose last try failed."""

    what: str
    since: datetime
    times: int
    last_at: datetime
    next_try: float | None
    next_try_at: datetime | None


class Troubles:
    """The parts that are in trouble. now is seconds on a monotonic clock, at the time of day."""

    def __init__(self) -> None:
        """Begin without any trouble."""
        self._failed: dict[str, _Failed] = {}
        self._waits: set[str] = set()  # parts that are not to be tried before their time
        self.has_changed = False
        """Whether anything is new since this was last set to False."""

    def attempt(
        self, part: str, work: Callable[[], Problem | None], longest: float = LONGEST_PAUSE
    ) -> None:
        """Do a part of the work unless it failed a moment ago, and keep account of its failures.

        A part that tries again by itself returns its problem. Raises CatalogBusy and
        CatalogDamaged, and OutOfMemory where memory was short too often.
        """
        if not self.is_due(part, time.monotonic()):
            return
        try:
            problem = work()
        except (CatalogBusy, CatalogDamaged):
            raise
        except SkilldropError as error:
            self.failed(part, str(error), time.monotonic(), datetime.now(UTC), longest)
        except MemoryError as error:
            what = "There is not enough memory for this work."
            if self.times(part) + 1 >= MEMORY_TRIES:
                raise OutOfMemory(
                    f"{what} It failed {MEMORY_TRIES} times in a row, so the service "
                    "ends; give it more memory, or smaller limits."
                ) from error
            self.failed(part, what, time.monotonic(), datetime.now(UTC))
        else:
            if problem:
                self.reported(part, problem, time.monotonic(), datetime.now(UTC))
            else:
                self.over(part)

    def is_due(self, part: str, now: float) -> bool:
        """Tell whether a part may be tried."""
        return self.seconds_to_try(part, now) <= 0.0

    def seconds_to_try(self, part: str, now: float) -> float:
        """Return for how long a part is not to be tried."""
        next_try = self._failed[part].next_try if part in self._waits else None
        return max(0.0, next_try - now) if next_try is not None else 0.0

    def times(self, part: str) -> int:
        """Return how often a part has failed in a row."""
        return self._failed[part].times if part in self._failed else 0

    def failed(
        self, part: str, what: str, now: float, at: datetime, longest: float = LONGEST_PAUSE
    ) -> None:
        """Note that a part failed; it is tried again after a pause, of so many seconds at most."""
        times = self.times(part) + 1
        pause: float = min(FIRST_PAUSE * 2 ** min(times - 1, 16), longest)
        self._waits.add(part)
        if not self._is_told(what):
            log.error("%s Trying again in %g s.", what, pause)
        self._note(part, Problem(what, times, now + pause), now, at)

    def reported(self, part: str, problem: Problem, now: float, at: datetime) -> None:
        """Note trouble of a part that logs it, and tries again, by itself."""
        known = self._failed.get(part)
        self._waits.discard(part)
        if not known or (known.what, known.times) != (problem.what, problem.times):
            self._note(part, problem, now, at)

    def over(self, part: str) -> None:
        """Note that a part has worked, or had nothing to do."""
        known = self._failed.pop(part, None)
        self.has_changed |= known is not None
        if known and part in self._waits:
            self._waits.discard(part)
            if not self._is_told(known.what):
                log.info("This is over: %s", known.what)

    def all(self) -> list[Trouble]:
        """Return all troubles, the oldest first."""
        return sorted(
            (
                Trouble(
                    part,
                    one.what,
                    iso(one.since),
                    one.times,
                    iso(one.last_at),
                    iso(one.next_try_at) if one.next_try_at else None,
                )
                for part, one in self._failed.items()
            ),
            key=lambda trouble: (trouble.since, trouble.part),
        )

    def _note(self, part: str, problem: Problem, now: float, at: datetime) -> None:
        next_try_at = (
            None if problem.next_try is None else at + timedelta(seconds=problem.next_try - now)
        )
        known = self._failed.get(part) or _Failed(
            problem.what, at, problem.times, at, problem.next_try, next_try_at
        )
        self._failed[part] = replace(
            known,
            what=problem.what,
            times=problem.times,
            last_at=at,
            next_try=problem.next_try,
            next_try_at=next_try_at,
        )
        self.has_changed = True

    def _is_told(self, what: str) -> bool:
        """Tell whether a sentence is logged already, maybe as the trouble of another part.

        One in which only numbers differ says nothing new: bytes that are free, a version's name.
        """
        return any(
            _NUMBERS.sub("", one.what) == _NUMBERS.sub("", what) for one in self._failed.values()
        )
