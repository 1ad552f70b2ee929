"""Inbox of the service: messages from the other threads."""

from queue import Empty, SimpleQueue
from typing import NamedTuple, TypeAlias

from catalog.model.values import Trigger


class Hint(NamedTuple):
    """Hint that something may have changed at a path; "" only wakes the loop."""

    path: str
    at: float = 0.0  # time of its arrival, in seconds of the monotonic clock


class ScanDue(NamedTuple):
    """Request for a full scan."""

    trigger: Trigger


class CollectDue(NamedTuple):
    """Request to remove expired packages."""


class PullDue(NamedTuple):
    """Request to pull the repository of a root, or all of them: one has changed just now."""

    root: str | None = None


Message: TypeAlias = Hint | ScanDue | CollectDue | PullDue


class Inbox:
    """Messages that wait for the thread that does the work."""

    def __init__(self) -> None:
        self._messages: SimpleQueue[Message] = SimpleQueue()

    def put(self, message: Message) -> None:
        """Put a message in, from any thread or signal handler: SimpleQueue is reentrant."""
        self._messages.put(message)

    def take_all(self, timeout: float) -> list[Message]:
        """Wait for a message, and return all; none if none comes in `timeout` seconds."""
        try:
            first = self._messages.get(timeout=timeout)
        except Empty:
            return []
        return [first, *(self._messages.get_nowait() for _ in range(self._messages.qsize()))]
