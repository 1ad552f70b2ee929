"""Decides how changes are noticed: by the system's events, or by polling where those fail."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from catalog.model.trouble import Problem
from catalog.text import humanize
from pipeline.roots.local.mounts import network_type
from pipeline.watch.observer import LIMIT_REACHED, OVERFLOWED, Watch

log = logging.getLogger("skilldrop")

Mode: TypeAlias = Literal["native", "polling"]

TROUBLES = 3
"""So many doubts within TROUBLE_SPAN seconds, and events are not relied on for a while."""
TROUBLE_SPAN = 60.0
RETRY = 30.0
"""Seconds until events are tried again; twice as long after each attempt in vain …"""
LONGEST_RETRY = 960.0
"""… and no longer than this."""


@dataclass(frozen=True, slots=True)
class ModeChange:
    """How changes are noticed from now on; what was missed before is found by looking."""

    mode: Mode
    reason: str
    has_overflowed: bool = False


class WatchSupervisor:
    """The watch over all roots, kept alive, and the polling that stands in for it.

    All times are seconds on one monotonic clock. After each Turn everything is to be looked at.
    """

    def __init__(
        self,
        roots: Sequence[str],
        heard: Callable[[str], None],
        *,
        poll_every: float,
        depth: int,
        only_polls: bool = False,
    ) -> None:
        """Take absolute root paths and what to call, on another thread, with each hinted path."""
        self._remote = {} if only_polls else _remote(roots)
        self._listened = [] if only_polls else [root for root in roots if root not in self._remote]
        self._heard = heard
        self._depth = depth
        self._poll_every = poll_every
        self._watch = self._new_watch()
        self.mode: Mode = "native"
        self._troubles: deque[float] = deque(maxlen=TROUBLES)
        self._retry_after = RETRY
        self._why = ""
        self._failures = 0  # to listen, in a row
        self._next_try: float | None = None
        self._next_poll = 0.0
        self._was_deaf = 0

    def begin(self, now: float) -> ModeChange:
        """Start to listen."""
        return self._listen(now, "the service started")

    def check(self, now: float) -> ModeChange | None:
        """Repair a watch that has faults; None where it has none."""
        if self._next_try is not None:
            return self._try_again(now) if now >= self._next_try else None
        doubt = self._watch.doubt() if self._listened else None
        if not doubt:
            self._forgive(now)
            return None
        return self._doubt(now, doubt)

    def check_all_heard(self, now: float) -> ModeChange | None:
        """Count the directories, at a time when no events arrive, and mend a watch that is deaf.

        One that came a moment ago may be late, so only twice the same is believed.
        """
        deaf = self._watch.deaf() if self._listened and self._next_try is None else 0
        was_deaf, self._was_deaf = self._was_deaf, deaf
        if deaf and was_deaf:
            what = humanize.count(deaf, "directory was", "directories were")
            return self._doubt(now, f"{what} not listened to")
        return None

    @property
    def trouble(self) -> Problem | None:
        """Why events cannot be relied on though they should be, and when they are tried again."""
        if self._next_try is None or self._why == LIMIT_REACHED:
            return None
        return Problem(
            f"{self._why}; changes are looked for every {self._poll_every:g} s instead.",
            self._failures,
            self._next_try,
        )

    @property
    def needs_count(self) -> bool:
        """Whether `check_all_heard` has a suspicion to look into, or to confirm."""
        return self._was_deaf > 0 or (self._next_try is None and self._watch.may_be_deaf)

    def polls(self, now: float) -> bool:
        """Tell whether it is time to look at everything because events cannot be relied on."""
        return self.mode == "polling" and now >= self._next_poll

    def polled(self, now: float) -> None:
        """Note that everything was looked at."""
        self._next_poll = now + self._poll_every

    def seconds_to_poll(self, now: float) -> float | None:
        """Return how long no polling will be due; None where none will be."""
        return max(0.0, self._next_poll - now) if self.mode == "polling" else None

    def stop(self) -> None:
        """Stop listening."""
        self._watch.stop()

    def _doubt(self, now: float, doubt: str) -> ModeChange:
        self._was_deaf = 0
        overflowed = doubt == OVERFLOWED
        if not doubt.startswith("the root"):  # its coming and going is no fault of the watch
            self._troubles.append(now)
        is_frequent = len(self._troubles) == TROUBLES and now - self._troubles[0] <= TROUBLE_SPAN
        if is_frequent or doubt == LIMIT_REACHED:
            return self._give_up(now, doubt, overflowed)
        log.warning("%s; watching again and scanning everything", doubt)
        return self._listen(now, doubt, overflowed)

    def _try_again(self, now: float) -> ModeChange | None:
        turn = self._listen(now, "events are tried again")
        if turn.mode == "native" and self._watch.doubt() is None:
            log.info("the system's events are relied on again")
            self._troubles.clear()
            self._failures = 0
            return turn
        if turn.mode == "native":
            return self._give_up(now, self._watch.doubt() or "", overflowed=False)
        return None  # nothing has changed

    def _forgive(self, now: float) -> None:
        """Try soon again after the next trouble, once there has been none for long."""
        if not self._troubles or now - self._troubles[-1] > LONGEST_RETRY:
            self._retry_after = RETRY

    def _listen(self, now: float, reason: str, overflowed: bool = False) -> ModeChange:
        """Start a new observer in the place of the old one; without any, polling has to do."""
        self._watch.stop()
        self._watch = self._new_watch()
        self._next_try = None
        try:
            self._watch.start()
        except OSError as error:
            why = error.strerror or str(error)
            return self._give_up(
                now,
                why if why == LIMIT_REACHED else f"the system will not watch: {why}",
                overflowed,
            )
        if (doubt := self._watch.doubt()) == LIMIT_REACHED:
            return self._give_up(now, doubt, overflowed)
        if self._remote or not self._listened:
            return self._turn("polling", self._why_polling(), overflowed)
        return self._turn("native", reason, overflowed)

    def _give_up(self, now: float, why: str, overflowed: bool) -> ModeChange:
        """Poll for a while, and leave the watches that there are to others."""
        self._watch.stop()
        self._why, self._failures = why, self._failures + 1
        self._next_try = now + self._retry_after
        log.warning(
            "%s; looking at everything every %g s instead, and trying again in %g s",
            why,
            self._poll_every,
            self._retry_after,
        )
        self._retry_after = min(2 * self._retry_after, LONGEST_RETRY)
        return self._turn("polling", why, overflowed)

    def _turn(self, mode: Mode, reason: str, overflowed: bool) -> ModeChange:
        self.mode = mode
        return ModeChange(mode, reason, overflowed)

    def _why_polling(self) -> str:
        if not self._remote:
            return "so it is set"
        return "; ".join(
            f"{root} lies on a network file system ({kind})" for root, kind in self._remote.items()
        )

    def _new_watch(self) -> Watch:
        return Watch(self._listened, self._heard, self._depth)


def _remote(roots: Sequence[str]) -> dict[str, str]:
    return {root: kind for root in roots if (kind := network_type(root))}
