"""Delivery of events to hooks: one at a time, in order, and repeated until it succeeds."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence

from catalog.model.errors import HookFailed
from catalog.model.event import Event, MemoryEvent
from catalog.model.trouble import Problem
from catalog.writing.store import Store
from pipeline.hooks.hook import Hook
from pipeline.hooks.payload import delivery_id, payload, pending

FIRST_PAUSE = 2.0
"""Seconds until the first retry; the pause doubles after each failure …"""
LONGEST_PAUSE = 600.0
"""… up to this limit."""
GRACE = 5.0
"""Seconds for which the end of the service waits for the deliveries that are on their way."""


class HookQueue:
    """Delivery of the events of one hook; `step` is for the thread of the loop."""

    def __init__(self, hook: Hook, wake: Callable[[], None]) -> None:
        """Take a hook, and a function for any thread that wakes the loop."""
        self.hook = hook
        self._wake = wake
        self._sending: _Delivery | None = None
        self._failures = 0
        self.problem: Problem | None = None
        """Failure of the last delivery, which is repeated."""

    @property
    def is_sending(self) -> bool:
        """Whether a delivery is on its way."""
        return self._sending is not None

    def step(self, store: Store) -> Problem | None:
        """Store the end of a delivery and begin the next; return the problem of the last one."""
        if self._sending and not self._sending.is_over:
            return self.problem
        if self._sending:
            self._finish(store, self._sending)
        if not self._sending and self.seconds_to_try() <= 0.0:
            self._begin(store)
        return self.problem

    def seconds_to_try(self) -> float:
        """Return the seconds until the next try after a failure; 0 without one."""
        next_try = self.problem.next_try if self.problem else None
        return max(0.0, next_try - time.monotonic()) if next_try else 0.0

    def stop(self, store: Store, seconds: float) -> None:
        """Wait for the delivery on its way; store its end, so that it is not repeated."""
        if self._sending and self._sending.ends_within(seconds):
            self._finish(store, self._sending)

    def _begin(self, store: Store) -> None:
        while events := pending(self.hook, store.events):
            if body := payload(self.hook, events):
                self._sending = _Delivery(self.hook, events, body, self._wake)
                return
            store.events.delivered(self.hook.listener, events)

    def _finish(self, store: Store, sent: "_Delivery") -> None:
        self._sending = None
        if sent.failure is None:
            store.events.delivered(self.hook.listener, sent.events)
            self._failures, self.problem = 0, None
            return
        pause = min(FIRST_PAUSE * 2 ** min(self._failures, 16), LONGEST_PAUSE)
        self._failures += 1
        self.problem = Problem(sent.failure, self._failures, time.monotonic() + pause)


def stop_all(queues: Iterable[HookQueue], store: Store) -> None:
    """Wait for the deliveries that are on their way, GRACE seconds at most for all."""
    latest = time.monotonic() + GRACE
    for queue in queues:
        queue.stop(store, max(0.0, latest - time.monotonic()))


class _Delivery:
    """One delivery in a thread of its own."""

    def __init__(
        self,
        hook: Hook,
        events: Sequence[Event] | Sequence[MemoryEvent],
        body: bytes,
        wake: Callable[[], None],
    ) -> None:
        self.events = events
        self.failure: str | None = None
        self.is_over = False
        self._work = hook, body, wake
        self._thread = threading.Thread(target=self._run, name=hook.listener, daemon=True)
        self._thread.start()

    def ends_within(self, seconds: float) -> bool:
        """Wait for the end, so many seconds at most; return whether it has come."""
        self._thread.join(seconds)
        return self.is_over

    def _run(self) -> None:
        hook, body, wake = self._work
        self.failure = f"The hook {hook.name} failed unexpectedly."
        try:
            hook.send(body, delivery_id(self.events))
            self.failure = None
        except HookFailed as error:
            self.failure = str(error)
        finally:
            self.is_over = True
            wake()
