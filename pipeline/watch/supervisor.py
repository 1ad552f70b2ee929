"""Supervisor of the watch, which restarts a faulty one and polls while events are unreliable."""

import errno
import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Literal, TypeAlias

from catalog.model.errors import Problem
from catalog.text import humanize
from pipeline.roots.local.mounts import network_type
from pipeline.watch.observer import LIMIT_REACHED, OVERFLOWED, Watch, WatchFault

log = logging.getLogger("skilldrop")

Mode: TypeAlias = Literal["native", "polling"]

FAULTS = 3
"""Faults within FAULT_SPAN after which the supervisor polls for a while."""
FAULT_SPAN = 60.0
"""Seconds."""
RETRY = 30.0
"""Seconds until events are tried again; this doubles after each failed attempt …"""
LONGEST_RETRY = 960.0
"""… up to this."""


@dataclass(frozen=True, slots=True)
class ModeChange:
    """New mode of noticing changes. A scan finds the changes that were missed before."""

    mode: Mode
    reason: str
    has_overflowed: bool = False


class WatchSupervisor:
    """The watch over all roots, kept alive, and the polling that replaces it.

    All times are seconds on one monotonic clock. Scan everything after each ModeChange.
    """

    def __init__(
        self,
        roots: Sequence[str],
        on_hint: Callable[[str], None],
        *,
        poll_every: float,
        only_polls: bool = False,
    ) -> None:
        """Take absolute root paths and a callback for hinted paths, called on another thread."""
        kinds = {} if only_polls else {root: network_type(root) for root in roots}
        self._remote = {root: kind for root, kind in kinds.items() if kind}
        self._watched = [root for root, kind in kinds.items() if not kind]
        self._watch = Watch(self._watched, on_hint)
        self._poll_every = poll_every
        self._faults: deque[float] = deque(maxlen=FAULTS)  # their times
        self._retry_after = RETRY
        self._polls_because: WatchFault | None = None
        self._failures = 0  # in a row
        self._next_try: float | None = None
        self._next_poll = 0.0
        self._last_unwatched = 0
        self._was_restarted_for_unwatched = False

    @property
    def mode(self) -> Mode:
        """How changes are noticed; polling, if a root cannot be watched."""
        is_native = self._next_try is None and self._watched and not self._remote
        return "native" if is_native else "polling"

    def begin(self, now: float) -> ModeChange:
        """Start to watch."""
        return self._restart(now, "the service started")

    def check(self, now: float) -> ModeChange | None:
        """Restart a watch that has a fault; None if it has none."""
        if self._next_try is not None:
            return self._try_again(now) if now >= self._next_try else None
        if self._watched and (fault := self._watch.fault()):
            return self._handle(now, fault)
        if not self._faults or now - self._faults[-1] > LONGEST_RETRY:
            self._retry_after = RETRY  # after a long time without faults
        return None

    def check_all_heard(self, now: float) -> ModeChange | None:
        """Restart a watch that misses directories; this lists all directories of the roots.

        Call it after a scan while no events arrive. The watch of a new directory may come a
        moment late, so two counts in a row must agree that some are unwatched.
        """
        unwatched = 0
        if self._watched and self._next_try is None:
            unwatched = self._watch.count_unwatched()
        last_unwatched, self._last_unwatched = self._last_unwatched, unwatched
        if not unwatched:
            self._was_restarted_for_unwatched = False
        if not unwatched or not last_unwatched:
            return None
        if self._was_restarted_for_unwatched:  # the system refuses to watch them
            return self._handle(now, LIMIT_REACHED)
        self._was_restarted_for_unwatched = True
        count = humanize.count(unwatched, "directory was", "directories were")
        return self._handle(now, WatchFault(f"{count} not watched"))

    @property
    def trouble(self) -> Problem | None:
        """Reason for polling, and the time of the next attempt to watch.

        None for the system's limit on watches, with which polling is the normal mode.
        """
        fault = self._polls_because
        if self._next_try is None or not fault or fault == LIMIT_REACHED:
            return None
        return Problem(
            f"{fault.message}; changes are looked for every {self._poll_every:g} s instead.",
            self._failures,
            self._next_try,
        )

    @property
    def needs_count(self) -> bool:
        """Whether `check_all_heard` has a suspicion to confirm."""
        return self._last_unwatched > 0

    def polled(self, now: float) -> None:
        """Record the end of a full scan."""
        self._next_poll = now + self._poll_every

    def seconds_to_poll(self, now: float) -> float:
        """Return the seconds until a full scan is due; infinite if changes are not polled."""
        return max(0.0, self._next_poll - now) if self.mode == "polling" else inf

    def stop(self) -> None:
        """Stop watching."""
        self._watch.stop()

    def _handle(self, now: float, fault: WatchFault) -> ModeChange:
        """Restart the watch after a fault, or poll for a while if faults are frequent."""
        self._last_unwatched = 0
        if fault.is_of_watch:
            self._faults.append(now)
        is_frequent = len(self._faults) == FAULTS and now - self._faults[0] <= FAULT_SPAN
        if is_frequent or fault == LIMIT_REACHED:
            change = self._fall_back(now, fault)
        else:
            log.warning("%s; restarting the watch and scanning everything", fault.message)
            change = self._restart(now, fault.message)
        return replace(change, has_overflowed=fault == OVERFLOWED)

    def _try_again(self, now: float) -> ModeChange | None:
        change = self._restart(now, "events are tried again")
        if self._next_try is not None:
            return None  # as before
        if fault := self._watch.fault():
            return self._fall_back(now, fault)
        log.info("the system's events are reliable again")
        self._faults.clear()
        self._failures = 0
        return change

    def _restart(self, now: float, reason: str) -> ModeChange:
        """Start the watch again; poll if it does not start."""
        self._watch.stop()
        self._next_try = None
        try:
            self._watch.start()
        except OSError as error:
            message = f"the system will not watch: {error.strerror or error}"
            is_limit = error.errno == errno.ENOSPC
            return self._fall_back(now, LIMIT_REACHED if is_limit else WatchFault(message))
        if not self._watched:
            reason = "polling is configured"
        if self._remote:
            reason = "; ".join(
                f"{root} lies on a network file system ({kind})"
                for root, kind in self._remote.items()
            )
        return ModeChange(self.mode, reason)

    def _fall_back(self, now: float, fault: WatchFault) -> ModeChange:
        """Poll for a while, and free the watches for other programs."""
        self._watch.stop()
        self._polls_because, self._failures = fault, self._failures + 1
        self._next_try = now + self._retry_after
        log.warning(
            "%s; scanning everything every %g s instead, and trying again in %g s",
            fault.message,
            self._poll_every,
            self._retry_after,
        )
        self._retry_after = min(2 * self._retry_after, LONGEST_RETRY)
        return ModeChange(self.mode, fault.message)
