"""Supervisor of the watch, which restarts a faulty one and polls while events are unreliable."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from catalog.model.trouble import Problem
from catalog.text import humanize
from pipeline.roots.local.mounts import network_type
from pipeline.watch.observer import (
    LIMIT_REACHED,
    FaultKind,
    Watch,
    WatchFault,
    WatchLimitReached,
)

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
        self._remote = {} if only_polls else _remote(roots)
        self._watched = [] if only_polls else [root for root in roots if root not in self._remote]
        self._on_hint = on_hint
        self._poll_every = poll_every
        self._watch = self._new_watch()
        self.mode: Mode = "native"
        self._faults: deque[float] = deque(maxlen=FAULTS)  # their times
        self._retry_after = RETRY
        self._polls_because: WatchFault | None = None
        self._failures = 0  # in a row
        self._next_try: float | None = None
        self._next_poll = 0.0
        self._last_unwatched = 0
        self._was_restarted_for_unwatched = False

    def begin(self, now: float) -> ModeChange:
        """Start to watch."""
        return self._restart(now, "the service started")

    def check(self, now: float) -> ModeChange | None:
        """Restart a watch that has a fault; None if it has none."""
        if self._next_try is not None:
            return self._try_again(now) if now >= self._next_try else None
        fault = self._watch.fault() if self._watched else None
        if not fault:
            self._shorten_retry(now)
            return None
        return self._handle(now, fault)

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
        return self._handle(now, WatchFault(FaultKind.UNWATCHED, f"{count} not watched"))

    @property
    def trouble(self) -> Problem | None:
        """Fault because of which changes are polled, and the time of the next attempt.

        None for the system's limit on watches, with which polling is the normal mode.
        """
        fault = self._polls_because
        if self._next_try is None or not fault or fault.kind is FaultKind.LIMIT_REACHED:
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

    def polls(self, now: float) -> bool:
        """Whether a full scan is due because changes are polled."""
        return self.mode == "polling" and now >= self._next_poll

    def polled(self, now: float) -> None:
        """Record the end of a full scan."""
        self._next_poll = now + self._poll_every

    def seconds_to_poll(self, now: float) -> float | None:
        """Return the seconds until the next poll; None if changes are not polled."""
        return max(0.0, self._next_poll - now) if self.mode == "polling" else None

    def stop(self) -> None:
        """Stop watching."""
        self._watch.stop()

    def _handle(self, now: float, fault: WatchFault) -> ModeChange:
        """Restart the watch after a fault, or poll for a while if faults are frequent."""
        self._last_unwatched = 0
        has_overflowed = fault.kind is FaultKind.OVERFLOW
        if fault.kind is not FaultKind.ROOT_CHANGED:
            self._faults.append(now)
        is_frequent = len(self._faults) == FAULTS and now - self._faults[0] <= FAULT_SPAN
        if is_frequent or fault.kind is FaultKind.LIMIT_REACHED:
            return self._fall_back(now, fault, has_overflowed)
        log.warning("%s; restarting the watch and scanning everything", fault.message)
        return self._restart(now, fault.message, has_overflowed)

    def _try_again(self, now: float) -> ModeChange | None:
        change = self._restart(now, "events are tried again")
        if change.mode == "polling":
            return None  # as before
        if fault := self._watch.fault():
            return self._fall_back(now, fault)
        log.info("the system's events are reliable again")
        self._faults.clear()
        self._failures = 0
        return change

    def _shorten_retry(self, now: float) -> None:
        """Reset the time until the next attempt after a long time without faults."""
        if not self._faults or now - self._faults[-1] > LONGEST_RETRY:
            self._retry_after = RETRY

    def _restart(self, now: float, reason: str, has_overflowed: bool = False) -> ModeChange:
        """Replace the watch by a new one; poll if it does not start."""
        self._watch.stop()
        self._watch = self._new_watch()
        self._next_try = None
        if fault := self._start():
            return self._fall_back(now, fault, has_overflowed)
        if self._remote or not self._watched:
            return self._change_mode("polling", self._polling_reason(), has_overflowed)
        return self._change_mode("native", reason, has_overflowed)

    def _start(self) -> WatchFault | None:
        """Start the watch; return the fault that makes it useless, if any."""
        try:
            self._watch.start()
        except WatchLimitReached:
            return LIMIT_REACHED
        except OSError as error:
            return WatchFault(
                FaultKind.NOT_STARTED, f"the system will not watch: {error.strerror or error}"
            )
        return None

    def _fall_back(self, now: float, fault: WatchFault, has_overflowed: bool = False) -> ModeChange:
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
        return self._change_mode("polling", fault.message, has_overflowed)

    def _change_mode(self, mode: Mode, reason: str, has_overflowed: bool) -> ModeChange:
        self.mode = mode
        return ModeChange(mode, reason, has_overflowed)

    def _polling_reason(self) -> str:
        if not self._remote:
            return "polling is configured"
        return "; ".join(
            f"{root} lies on a network file system ({kind})" for root, kind in self._remote.items()
        )

    def _new_watch(self) -> Watch:
        return Watch(self._watched, self._on_hint)


def _remote(roots: Sequence[str]) -> dict[str, str]:
    return {root: kind for root in roots if (kind := network_type(root))}
