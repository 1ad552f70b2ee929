"""Reader of the system's events, which records what watchdog ignores."""

import errno
import os
from collections.abc import Sequence

from watchdog.observers.inotify_c import (
    CallbackId,
    InotifyEvent,
    InotifyFD,
    Mask,
    WatchCallback,
    WatchDescriptor,
    inotify_add_watch,
)

from pipeline.roots.names import is_junk
from pipeline.watch.fault import WatchFault, recording_fault

_LIMIT_ERRORS = {errno.ENOSPC, errno.ENOMEM}


class InotifyReader(InotifyFD):
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
        self._groups: dict[CallbackId, WatchCallback] = {}

    def run(self) -> None:
        """Run the thread until it is stopped."""
        with recording_fault(self):
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
            return
        if self.has_overflowed:
            return
        self.has_missed |= self._was_denied and event.is_directory and event.is_attrib
        # Each group knows its own directories. watchdog keeps those of all groups once more.
        for group in list(self._groups.values()):
            if event.is_ignored:
                group.on_watch_deleted(event.wd)
            else:
                group.on_event(event)

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
        """Watch a directory; the caller holds the lock. OSError if the system refuses."""
        watch = inotify_add_watch(self._inotify_fd, path, mask)
        if watch == -1:
            self._raise_error()
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))  # a success to watchdog
        self._groups[id_] = callback
        return watch

    def _is_relevant(self, path: bytes) -> bool:
        for base in self._bases:
            if path.startswith(base + b"/"):
                names = os.fsdecode(path[len(base) + 1 :]).split("/")
                return len(names) <= self._depth and not any(map(is_junk, names))
        return True
