"""Problems of the service by part of its work, with retries and growing pauses."""

import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from catalog.model.errors import CatalogBusy, CatalogDamaged, OutOfMemory, SkilldropError
from catalog.model.trouble import Problem, Trouble
from catalog.text.humanize import iso
from pipeline.roots import internal_errors

log = logging.getLogger("skilldrop")

FIRST_PAUSE = 5.0
"""Seconds until the first retry after a failure; the pause doubles after each failure …"""
LONGEST_PAUSE = 240.0
"""… up to this limit."""
MEMORY_TRIES = 6
"""Failures in a row for lack of memory, over some minutes, after which the service ends."""
_NUMBERS = re.compile(r"\d[\d.,-]*")


@dataclass(frozen=True, slots=True)
class _Failed:
    """Failure of one part."""

    message: str
    since: datetime
    times: int
    last_at: datetime
    next_try: float | None
    next_try_at: datetime | None


class Troubles:
    """Current problems by part; `now` is seconds on the monotonic clock, `at` the time of day."""

    def __init__(self) -> None:
        """Start without problems."""
        self._failed: dict[str, _Failed] = {}
        self._waits: set[str] = set()  # parts that wait for their next try
        self.has_changed = False
        """Whether anything has changed since this was last set to False."""

    def attempt(
        self, part: str, work: Callable[[], Problem | None], longest: float | None = None
    ) -> None:
        """Do a part of the work, unless it waits for its next try, and record failures.

        A part that handles its own retries returns its problem. Raises CatalogBusy,
        CatalogDamaged, and OutOfMemory after too many failures for lack of memory.
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
            message = "There is not enough memory for this work."
            if self.times(part) + 1 >= MEMORY_TRIES:
                raise OutOfMemory(
                    f"{message} It failed {MEMORY_TRIES} times in a row, so the service "
                    "ends. Provide more memory or set lower limits."
                ) from error
            self.failed(part, message, time.monotonic(), datetime.now(UTC), longest)
        except Exception as error:  # a mistake in one part must not stop the others
            message = internal_errors.sentence(error)
            if not self._is_logged(message):
                log.error("%s failed.", part.capitalize(), exc_info=error)
            self.failed(part, message, time.monotonic(), datetime.now(UTC), longest)
        else:
            if problem:
                self.reported(part, problem, time.monotonic(), datetime.now(UTC))
            else:
                self.over(part)

    def is_due(self, part: str, now: float) -> bool:
        """Return whether a part may be tried."""
        return self.seconds_to_try(part, now) <= 0.0

    def seconds_to_try(self, part: str, now: float) -> float:
        """Return the seconds until a part may be tried."""
        next_try = self._failed[part].next_try if part in self._waits else None
        return max(0.0, next_try - now) if next_try is not None else 0.0

    def times(self, part: str) -> int:
        """Return the number of failures in a row."""
        return self._failed[part].times if part in self._failed else 0

    def failed(
        self, part: str, message: str, now: float, at: datetime, longest: float | None = None
    ) -> None:
        """Record a failure; the next try follows after a pause.

        The pause is at most `longest` seconds, by default LONGEST_PAUSE.
        """
        times = self.times(part) + 1
        pause: float = min(FIRST_PAUSE * 2 ** min(times - 1, 16), longest or LONGEST_PAUSE)
        self._waits.add(part)
        if not self._is_logged(message):
            log.error("%s Trying again in %g s.", message, pause)
        self._note(part, Problem(message, times, now + pause), now, at)

    def reported(self, part: str, problem: Problem, now: float, at: datetime) -> None:
        """Record a problem of a part that logs it and retries by itself."""
        known = self._failed.get(part)
        self._waits.discard(part)
        if not known or (known.message, known.times) != (problem.message, problem.times):
            self._note(part, problem, now, at)

    def over(self, part: str) -> None:
        """Record that a part has succeeded or had nothing to do."""
        known = self._failed.pop(part, None)
        self.has_changed |= known is not None
        if known and part in self._waits:
            self._waits.discard(part)
            if not self._is_logged(known.message):
                log.info("Resolved: %s", known.message)

    def all(self) -> list[Trouble]:
        """Return all current problems, oldest first."""
        return sorted(
            (
                Trouble(
                    part,
                    failure.message,
                    iso(failure.since),
                    failure.times,
                    iso(failure.last_at),
                    iso(failure.next_try_at) if failure.next_try_at else None,
                )
                for part, failure in self._failed.items()
            ),
            key=lambda trouble: (trouble.since, trouble.part),
        )

    def _note(self, part: str, problem: Problem, now: float, at: datetime) -> None:
        next_try_at = (
            None if problem.next_try is None else at + timedelta(seconds=problem.next_try - now)
        )
        known = self._failed.get(part) or _Failed(
            problem.message, at, problem.times, at, problem.next_try, next_try_at
        )
        self._failed[part] = replace(
            known,
            message=problem.message,
            times=problem.times,
            last_at=at,
            next_try=problem.next_try,
            next_try_at=next_try_at,
        )
        self.has_changed = True

    def _is_logged(self, message: str) -> bool:
        """Return whether the message is logged already, perhaps for another part.

        Messages that differ only in numbers, such as free bytes, count as the same.
        """
        return any(
            _NUMBERS.sub("", failure.message) == _NUMBERS.sub("", message)
            for failure in self._failed.values()
        )
