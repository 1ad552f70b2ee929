"""Problems of the service by part of its work, with retries and growing pauses."""

import logging
import re
import time
from collections.abc import Callable
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


class Troubles:
    """Current problems by part; `now` is seconds on the monotonic clock, `at` the time of day."""

    def __init__(self) -> None:
        """Start without problems."""
        self._troubles: dict[str, Trouble] = {}
        self._next_try: dict[str, float] = {}  # of the parts that wait for it
        self.has_changed = False
        """Whether anything has changed since this was last set to False."""

    def attempt(
        self, part: str, work: Callable[[], Problem | None], longest: float | None = None
    ) -> None:
        """Do a part of the work, unless it waits for its next try, and record failures.

        A part that handles its own retries returns its problem. Raises CatalogBusy,
        CatalogDamaged, and OutOfMemory after too many failures for lack of memory.
        """
        if self.seconds_to_try(part, time.monotonic()):
            return
        try:
            problem = work()
        except (CatalogBusy, CatalogDamaged):
            raise
        except Exception as error:  # noqa: BLE001  # one part must not stop the others
            message = self._message(part, error)
            self.failed(part, message, time.monotonic(), datetime.now(UTC), longest)
        else:
            if problem:
                self.reported(part, problem, time.monotonic(), datetime.now(UTC))
            else:
                self.over(part)

    def _message(self, part: str, error: Exception) -> str:
        """Return a sentence about an error; log the traceback of a mistake of skilldrop."""
        if isinstance(error, SkilldropError):
            return str(error)
        if isinstance(error, MemoryError):
            message = "There is not enough memory for this work."
            if self._times(part) + 1 >= MEMORY_TRIES:
                raise OutOfMemory(
                    f"{message} It failed {MEMORY_TRIES} times in a row, so the service "
                    "ends. Provide more memory or set lower limits."
                ) from error
            return message
        message = internal_errors.sentence(error)
        if not self._is_logged(message):
            log.error("%s failed.", part.capitalize(), exc_info=error)
        return message

    def seconds_to_try(self, part: str, now: float) -> float:
        """Return the seconds until a part may be tried; 0 if it may be tried now."""
        return max(0.0, self._next_try.get(part, now) - now)

    def failed(
        self, part: str, message: str, now: float, at: datetime, longest: float | None = None
    ) -> None:
        """Record a failure; the next try follows after a pause.

        The pause is at most `longest` seconds, by default LONGEST_PAUSE.
        """
        times = self._times(part) + 1
        pause: float = min(FIRST_PAUSE * 2 ** min(times - 1, 16), longest or LONGEST_PAUSE)
        if not self._is_logged(message):
            log.error("%s Trying again in %g s.", message, pause)
        self._next_try[part] = now + pause
        self._note(part, Problem(message, times, now + pause), now, at)

    def reported(self, part: str, problem: Problem, now: float, at: datetime) -> None:
        """Record a problem of a part that logs it and retries by itself."""
        self._next_try.pop(part, None)
        known = self._troubles.get(part)
        if not known or (known.message, known.times) != (problem.message, problem.times):
            self._note(part, problem, now, at)

    def over(self, part: str) -> None:
        """Record that a part has succeeded or had nothing to do."""
        known = self._troubles.pop(part, None)
        self.has_changed |= known is not None
        if self._next_try.pop(part, None) and known and not self._is_logged(known.message):
            log.info("Resolved: %s", known.message)

    def all(self) -> list[Trouble]:
        """Return all current problems, oldest first."""
        return sorted(self._troubles.values(), key=lambda trouble: (trouble.since, trouble.part))

    def _times(self, part: str) -> int:
        """Return the number of failures in a row."""
        return self._troubles[part].times if part in self._troubles else 0

    def _note(self, part: str, problem: Problem, now: float, at: datetime) -> None:
        known, (message, times, next_try) = self._troubles.get(part), problem
        next_at = None if next_try is None else iso(at + timedelta(seconds=next_try - now))
        since = known.since if known else iso(at)
        self._troubles[part] = Trouble(part, message, since, times, iso(at), next_at)
        self.has_changed = True

    def _is_logged(self, message: str) -> bool:
        """Return whether the message is logged already, perhaps for another part.

        Messages that differ only in numbers, such as free bytes, count as the same.
        """
        return any(
            _NUMBERS.sub("", trouble.message) == _NUMBERS.sub("", message)
            for trouble in self._troubles.values()
        )
