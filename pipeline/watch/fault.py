"""Faults of a watch: the reasons for which events may have been missed."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol


class FaultKind(Enum):
    """Kind of a fault, on which the reaction depends."""

    OVERFLOW = auto()  # the event queue was full
    ROOT_CHANGED = auto()  # a root came, went or was replaced: no fault of the watch itself
    LIMIT_REACHED = auto()  # more directories than the system watches: a new watch cannot help
    UNWATCHED = auto()  # some directories are not watched
    THREAD_ENDED = auto()  # a thread of the watch ended
    NOT_STARTED = auto()  # the watch is not running


@dataclass(frozen=True, slots=True)
class WatchFault:
    """Fault of a watch. After any fault, start a new watch and scan everything."""

    kind: FaultKind
    message: str  # without a capital letter or a full stop


OVERFLOWED = WatchFault(FaultKind.OVERFLOW, "the event queue overflowed")
LIMIT_REACHED = WatchFault(
    FaultKind.LIMIT_REACHED, "there are more directories than the system will watch for one user"
)


class Watcher(Protocol):
    """Thread of a watch."""

    fault: WatchFault | None  # why it ended; None while it runs

    def is_alive(self) -> bool:
        """Return whether the thread runs."""

    def stop(self) -> None:
        """Let the thread end."""

    def join(self, timeout: float | None = None) -> None:
        """Wait for the end of the thread."""


@contextmanager
def recording_fault(thread: Watcher) -> Iterator[None]:
    """Record the error that ends a thread; Python would print a traceback."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  # `Watch.fault` reports it
        thread.fault = WatchFault(
            FaultKind.THREAD_ENDED, f"a watch thread ended: {type(error).__name__}: {error}"
        )
