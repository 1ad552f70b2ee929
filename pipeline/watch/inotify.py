"""watchdog's inotify observer, without its known faults."""

import errno
import os
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from watchdog.observers.api import BaseObserver
from watchdog.observers.inotify import InotifyEmitter
from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchCallback,
    WatchDescriptor,
)

from pipeline.roots.names import is_junk

# watchdog's threads end without a word, and drop directories that the system will not watch: each
# is asked here what happened to it, so that `doubt` can tell.

LONGEST_END = 1.0
"""Seconds to wait for the threads of a watch that ends; one that is stuck ends by itself."""
_NO_MORE = {errno.ENOSPC, errno.ENOMEM}


class _Watcher(Protocol):
    """A thread of the observer's."""

    ended_by: str  # empty while it runs

    def is_alive(self) -> bool: ...

    def stop(self) -> None: ...

    def join(self, timeout: float | None = None) -> None: ...


class InotifyObserver(BaseObserver):
    """Gives the handler the events that the emitters have put in a queue."""

    ended_by = ""

    def __init__(self, roots: Sequence[str], depth: int) -> None:
        # watchdog says so during an ordinary `cp -r`, and it is of no consequence.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        self.inotify = _Inotify(roots, depth)
        super().__init__(_Emitter, inotify_fd=self.inotify)

    def start(self) -> None:
        """Start all threads."""
        self.inotify.start()
        super().start()

    def threads(self) -> Iterator[_Watcher]:
        """Yield every thread that must live for events to arrive."""
        yield self
        yield self.inotify
        yield from (emitter for emitter in self.emitters if isinstance(emitter, _Emitter))

    def run(self) -> None:
        """Run the thread until it is stopped."""
        with _noted(self):
            super().run()

    def on_thread_stop(self) -> None:
        """Leave the emitters to `end`: watchdog waits for each for ever, and stops at an error."""

    def end(self) -> None:
        """Stop all threads, whichever of them live; waiting for a stuck one ends soon."""
        threads = list(self.threads())
        for thread in threads:
            thread.stop()
        until = time.monotonic() + LONGEST_END
        for thread in threads:
            if thread.is_alive():
                thread.join(max(0.0, until - time.monotonic()))


class _Emitter(InotifyEmitter):
    """Turns what the system says into watchdog's events; it ends when its root is deleted."""

    ended_by = ""

    def run(self) -> None:
        """Run the thread until it is stopped."""
        with _noted(self):
            super().run()
        self.ended_by = self.ended_by or f"the root {os.fsdecode(self.watch.path)} was deleted"

    def on_thread_stop(self) -> None:
        """Let the thread end; its watches go with the descriptor.

        To remove each is slow, and a KeyError where watchdog has two directories under one name.
        """
        if self._inotify:
            self._inotify._is_active = False
            self._inotify._move_event_grouper.close()


class _Inotify(InotifyFD):
    """Reads what the system says."""

    ended_by = ""

    def __init__(self, roots: Sequence[str], depth: int) -> None:
        super().__init__()
        self.has_overflowed = False
        self.refused = 0  # directories that the system would not watch
        self.has_missed = False
        self._is_released = False
        self._was_denied = False  # a directory could not be listened to for its permissions
        self._depth = depth
        self._bases = [os.fsencode(root.rstrip("/")) for root in roots]

    @property
    def watched(self) -> int:
        """How many directories are listened to."""
        return len(self._watch_for_wd)

    def run(self) -> None:
        """Run the thread until it is stopped."""
        with _noted(self):
            super().run()
        self._release()

    def close(self) -> None:
        """Let the thread end, which then closes what it reads from; without one it is closed here.

        watchdog closes it under a thread that reads, unless that died: then it is never closed.
        """
        with self._lock:
            self._closed = True
            if not self._is_released:
                os.write(self._kill_w, b"!")
        if not self.is_alive():
            self._release()

    def _close_resources(self) -> None:
        """Leave that to `_release`."""

    def _release(self) -> None:
        with self._lock:
            if not self._is_released:
                self._is_released = True
                super()._close_resources()

    def handle_event(self, event: InotifyEvent) -> None:
        """Note an overflow; watchdog's own recovery would overflow the queue again for ever."""
        if event.is_queue_overflow:
            self.has_overflowed = True
        elif not self.has_overflowed:
            self.has_missed |= self._was_denied and event.is_directory and event.is_attrib
            super().handle_event(event)

    def add_callback(
        self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId
    ) -> WatchDescriptor:
        """Watch a directory, unless nothing in it can be a skill; watchdog passes over errors."""
        if not self._is_worth(path):
            raise OSError(errno.EPERM, "not worth watching")
        try:
            return super().add_callback(path, mask, callback, id_)
        except OSError as error:
            self.refused += error.errno in _NO_MORE
            self.has_missed |= error.errno == errno.ENOENT
            self._was_denied |= error.errno == errno.EACCES
            raise

    def _is_worth(self, path: bytes) -> bool:
        for base in self._bases:
            if path.startswith(base + b"/"):
                names = os.fsdecode(path[len(base) + 1 :]).split("/")
                return len(names) <= self._depth and not any(map(is_junk, names))
        return True


@contextmanager
def _noted(thread: _Watcher) -> Iterator[None]:
    """Keep what ends a thread, which else would print a traceback."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  # `doubt` tells, and a new observer is made
        thread.ended_by = f"a watching thread ended: {type(error).__name__}: {error}"
