"""watchdog's inotify observer, without its known faults."""

import os
import time
from collections.abc import Iterator, Sequence

from watchdog.observers.api import BaseObserver
from watchdog.observers.inotify import InotifyEmitter

from pipeline.watch.fault import FaultKind, Watcher, WatchFault, recording_fault
from pipeline.watch.inotify_reader import InotifyReader
from pipeline.watch.watch_group import WatchGroup

# watchdog's threads end silently, and it skips directories that the system refuses to watch. The
# classes below record both, so that `Watch.fault` can report them.

LONGEST_END = 1.0
"""Seconds to wait for the threads of a watch that stops; a stuck thread ends by itself."""


class InotifyObserver(BaseObserver):
    """Observer thread, which passes the queued events of the emitters to their handlers."""

    fault: WatchFault | None = None

    def __init__(self, roots: Sequence[str], depth: int) -> None:
        self.inotify = InotifyReader(roots, depth)
        super().__init__(_Emitter, inotify_fd=self.inotify)

    def start(self) -> None:
        """Start all threads."""
        self.inotify.start()
        super().start()

    def threads(self) -> Iterator[Watcher]:
        """Yield every thread that must be alive for events to arrive."""
        yield self
        yield self.inotify
        yield from (emitter for emitter in self.emitters if isinstance(emitter, _Emitter))

    def watches(self, path: str) -> bool:
        """Return whether a directory is watched."""
        groups = (emitter._inotify for emitter in self.emitters if isinstance(emitter, _Emitter))
        return any(isinstance(g, WatchGroup) and g.watches(os.fsencode(path)) for g in groups)

    def run(self) -> None:
        """Run the thread until it is stopped."""
        with recording_fault(self):
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

    def on_thread_start(self) -> None:
        """Watch the root and all directories below it."""
        self._inotify = WatchGroup(
            self._inotify_fd,
            os.fsencode(self.watch.path),
            event_mask=self.get_event_mask_from_filter(),
            is_recursive=self.watch.is_recursive,
            follow_symlink=self.watch.follow_symlink,
        )

    def run(self) -> None:
        """Run the thread until it is stopped."""
        with recording_fault(self):
            super().run()
        self.fault = self.fault or WatchFault(
            FaultKind.ROOT_CHANGED, f"the root {os.fsdecode(self.watch.path)} was deleted"
        )

    def on_thread_stop(self) -> None:
        """Let the thread end; closing the descriptor removes all watches at once."""
        if self._inotify:
            self._inotify._is_active = False
            self._inotify._move_event_grouper.close()
