"""watchdog's inotify observer, without its known faults."""

import errno
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
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
from pipeline.watch.fault import FaultKind, WatchFault

# watchdog's threads end silently, and it skips directories that the system refuses to watch. The
# classes below record both, so that `Watch.fault` can report them.

LONGEST_END = 1.0
"""Seconds to wait for the threads of a watch that stops; a stuck thread ends by itself."""
_LIMIT_ERRORS = {errno.ENOSPC, errno.ENOMEM}


class _Watcher(Protocol):
    """Thread of the observer."""

    fault: WatchFault | None  # why it ended; None while it runs

    def is_alive(self) -> bool: ...

    def stop(self) -> None: ...

    def join(self, timeout: float | None = None) -> None: ...


class InotifyObserver(BaseObserver):
    """Observer thread, which passes the queued events of the emitters to their handlers."""

    fault: WatchFault | None = None

    def __init__(self, roots: Sequence[str], depth: int) -> None:
        self.inotify = _Inotify(roots, depth)
        super().__init__(_Emitter, inotify_fd=self.inotify)

    def start(self) -> None:
        """Start all threads."""
        self.inotify.start()
        super().start()

    def threads(self) -> Iterator[_Watcher]:
        """Yield every thread that must be alive for events to arrive."""
        yield self
        yield self.inotify
        yield from (emitter for emitter in self.emitters if isinstance(emitter, _Emitter))

    def run(self) -> None:
        """Run the thread until it is stopped."""
        with _recording_fault(self):
            super().run()

    def on_thread_stop(self) -> None:
        """Do nothing: `end` stops the emitters.

        watchdog would wait for each without a limit, and stop at the first error.
        """

    def end(self) -> None:
        """Stop all threads and wait for them, LONGEST_END seconds at most."""
        threads = list(self.threads())
        for thread in threads:
            thread.stop()
        until = time.monotonic() + LONGEST_END
        for thread in threads:
            if thread.is_alive():
                thread.join(max(0.0, until - time.monotonic()))


class _Emitter(InotifyEmitter):
    """Thread that turns inotify events into watchdog events; it ends if its root is deleted."""

    fault: WatchFault | None = None

    def run(self) -> None:
        """Run the thread until it is stopped."""
        with _recording_fault(self):
            super().run()
        self.fault = self.fault or WatchFault(
            FaultKind.ROOT_CHANGED, f"the root {os.fsdecode(self.watch.path)} was deleted"
        )

    def on_thread_stop(self) -> None:
        """Let the thread end; closing the descriptor removes its watches.

        To remove them one by one is slow, and raises a KeyError where watchdog has recorded two
        directories under one name.
        """
        if self._inotify:
            self._inotify._is_active = False
            self._inotify._move_event_grouper.close()


@dataclass(slots=True)
class _WatchedDirectory:
    """Watchdog's `Watch` in a sixth of its memory: the callbacks are those of many directories."""

    wd: WatchDescriptor
    callbacks: Mapping[CallbackId, WatchCallback]


class _Inotify(InotifyFD):
    """Thread that reads the system's events."""

    fault: WatchFault | None = None

    def __init__(self, roots: Sequence[str], depth: int) -> None:
        super().__init__()
        self.has_overflowed = False
        self.refused = 0  # directories beyond the system's limit
        self.has_missed = False  # a directory that should be watched may not be
        self._has_ended = False  # the thread, by `close` or by an error
        self._is_released = False
        self._was_denied = False  # a directory is not watched because of its permissions
        self._depth = depth
        self._bases = [os.fsencode(root.rstrip("/")) for root in roots]
        self._callbacks: dict[frozenset[CallbackId], Mapping[CallbackId, WatchCallback]] = {}

    @property
    def watched(self) -> int:
        """Number of watched directories."""
        return len(self._watch_for_wd)

    def run(self) -> None:
        """Run the thread until it is stopped."""
        with _recording_fault(self):
            super().run()
        with self._lock:
            self._has_ended = True
            self._release()

    def close(self) -> None:
        """Let the thread end, which closes its descriptors; if it does not run, close them here.

        watchdog closes them while the thread still reads, and never if the thread died.
        """
        with self._lock:
            self._closed = True
            self._release()
            if not self._is_released:
                os.write(self._kill_w, b"!")

    def _close_resources(self) -> None:
        """Do nothing: `_release` closes the descriptors."""

    def _release(self) -> None:
        """Close the descriptors as soon as nothing uses them; the caller holds the lock.

        After an error that ends the thread, emitters still add watches until `close`: the number
        of a closed descriptor may be another file's by then.
        """
        is_running = self.ident is not None and not self._has_ended
        if self._closed and not is_running and not self._is_released:
            self._is_released = True
            super()._close_resources()

    def handle_event(self, event: InotifyEvent) -> None:
        """Record an overflow; watchdog's own recovery would overflow the queue again and again."""
        if event.is_queue_overflow:
            self.has_overflowed = True
        elif not self.has_overflowed:
            self.has_missed |= self._was_denied and event.is_directory and event.is_attrib
            super().handle_event(event)

    def add_callback(
        self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId
    ) -> WatchDescriptor:
        """Watch a directory that can hold skills; OSError, which watchdog ignores."""
        if not self._is_relevant(path):
            raise OSError(errno.EPERM, "not worth watching")
        try:
            return super().add_callback(path, mask, callback, id_)
        except OSError as error:
            self.refused += error.errno in _LIMIT_ERRORS
            self.has_missed |= error.errno == errno.ENOENT
            self._was_denied |= error.errno == errno.EACCES
            raise

    def _add_callback(
        self, path: bytes, mask: Mask, callback: WatchCallback, id_: CallbackId
    ) -> WatchDescriptor:
        """Watch a directory; the caller holds the lock."""
        watch = self._get_or_create_watch(path, mask)
        callbacks = MappingProxyType({**watch.callbacks, id_: callback})
        shared = self._callbacks.setdefault(frozenset(callbacks), callbacks)
        self._watch_for_wd[watch.wd] = _WatchedDirectory(watch.wd, shared)  # type: ignore[assignment]
        return watch.wd

    def _is_relevant(self, path: bytes) -> bool:
        for base in self._bases:
            if path.startswith(base + b"/"):
                names = os.fsdecode(path[len(base) + 1 :]).split("/")
                return len(names) <= self._depth and not any(map(is_junk, names))
        return True


@contextmanager
def _recording_fault(thread: _Watcher) -> Iterator[None]:
    """Record the error that ends a thread; Python would print a traceback."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  # `Watch.fault` reports it
        thread.fault = WatchFault(
            FaultKind.THREAD_ENDED, f"a watch thread ended: {type(error).__name__}: {error}"
        )
