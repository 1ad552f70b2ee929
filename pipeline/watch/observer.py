"""Turns watchdog's events into path hints, and knows when it may have missed some."""

import errno
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from watchdog.events import (
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirModifiedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)
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

from pipeline.roots.local.folder import Limits
from pipeline.roots.names import is_junk

# Opened and closed-without-write are left out: our own reading raises them, and unfiltered the
# walk that adds the watches overflows the queue of a large tree, again and again.
_HEARD: list[type[FileSystemEvent]] = [
    DirAttribEvent,
    DirCreatedEvent,
    DirDeletedEvent,
    DirModifiedEvent,
    DirMovedEvent,
    FileAttribEvent,
    FileClosedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
]
OVERFLOWED = "the event queue overflowed"
"""The doubt that is counted in the health of the service."""
LIMIT_REACHED = "there are more directories than the system will watch for one user"
"""The doubt that a new observer cannot mend."""


LONGEST_END = 1.0
"""Seconds to wait for the threads of a watch that ends; one that is stuck ends by itself."""


class Watch:
    """One watchdog observer over all roots. After any doubt, make a new one and scan."""

    def __init__(
        self, roots: Sequence[str], heard: Callable[[str], None], depth: int = Limits().depth
    ) -> None:
        """Take absolute root paths and what to call, on another thread, with each hinted path.

        depth is how many directories below a root are listened to.
        """
        self._roots = roots
        self._depth = depth
        self._heard = heard
        self._observer: _Observer | None = None
        self._inodes: dict[str, tuple[int, int] | None] = {}

    def start(self) -> None:
        """Begin to listen to the roots that are there. Raises OSError if one cannot be.

        No directory is listened to where the system would not have that of all: those that it
        takes cost as much memory as a large catalog.
        """
        if (most := _most_watches()) is not None and any(
            number > most for number, _ in enumerate(self._all_directories(), 1)
        ):
            raise OSError(errno.ENOSPC, LIMIT_REACHED)
        real = {root: os.path.realpath(root) for root in self._roots}  # watchdog follows no link
        observer = _Observer(list(real.values()), self._depth)
        try:
            for root in self._roots:
                if Path(root).is_dir():
                    observer.schedule(
                        _Hints(self._heard, root, real[root]),
                        real[root],
                        recursive=True,
                        event_filter=_HEARD,
                    )
                    self._inodes[root] = _inode(root)
            observer.start()
        except RecursionError as error:  # before Python 3.12 os.walk, as watchdog uses it
            observer.end()
            raise OSError(errno.ELOOP, "directories are nested too deeply") from error
        except RuntimeError as error:
            observer.end()
            raise OSError(errno.EAGAIN, "no more threads can be started") from error
        except BaseException:
            observer.end()
            raise
        self._observer = observer

    def doubt(self) -> str | None:
        """Return why events may have been missed; None while there is no sign of it."""
        if self._observer and self._observer.inotify.has_overflowed:
            return OVERFLOWED
        for root in self._roots:
            if self._inodes.get(root) != (found := _inode(root)):
                return f"the root {root} {'was replaced' if found else 'is gone'}"
        if self._observer is None:
            return "nothing listens"
        for thread in self._observer.threads():
            if not thread.is_alive():
                return thread.ended_by or "a watching thread ended"
        return LIMIT_REACHED if self._observer.inotify.refused else None

    @property
    def may_be_deaf(self) -> bool:
        """Whether a directory went from where it was to be listened to, since `deaf` was asked.

        It was deleted, or its parent was renamed a moment after it was made, or it could not be
        read and perhaps now can.
        """
        return self._observer is not None and self._observer.inotify.has_missed

    def deaf(self) -> int:
        """Return how many directories nothing listens to, at the price of listing them all."""
        if self._observer:
            self._observer.inotify.has_missed = False
        there = sum(1 for _ in self._all_directories())
        return max(0, there - (self._observer.inotify.watched if self._observer else 0))

    def stop(self) -> None:
        """Stop listening and wait for the threads, for a second at most."""
        if self._observer:
            self._observer.end()
            self._observer = None

    def _all_directories(self) -> Iterator[str]:
        """Yield every directory that is worth listening to."""
        way = [(root, 0) for root in self._roots]
        while way:
            path, depth = way.pop()
            with suppress(OSError), os.scandir(path) as entries:
                yield path
                way += [
                    (entry.path, depth + 1)
                    for entry in entries
                    if depth < self._depth
                    and not is_junk(entry.name)
                    and entry.is_dir(follow_symlinks=False)
                ]


class _Hints(FileSystemEventHandler):
    """Hands over the paths of an event and does no work: an error here would end the thread."""

    def __init__(self, heard: Callable[[str], None], root: str, real: str) -> None:
        self._heard = heard
        self._root, self._real = root, real

    def on_any_event(self, event: FileSystemEvent) -> None:
        for path in (event.src_path, event.dest_path):
            if path:
                self._heard(self._root + os.fsdecode(path).removeprefix(self._real))


# watchdog's threads end without a word, and drop directories that the system will not watch: each
# is asked here what happened to it, so that `doubt` can tell.


class _Watcher(Protocol):
    """A thread of the observer's."""

    ended_by: str  # empty while it runs

    def is_alive(self) -> bool: ...

    def stop(self) -> None: ...

    def join(self, timeout: float | None = None) -> None: ...


class _Observer(BaseObserver):
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


_NO_MORE = {errno.ENOSPC, errno.ENOMEM}


@contextmanager
def _noted(thread: _Watcher) -> Iterator[None]:
    """Keep what ends a thread, which else would print a traceback."""
    try:
        yield
    except Exception as error:  # noqa: BLE001  # `doubt` tells, and a new observer is made
        thread.ended_by = f"a watching thread ended: {type(error).__name__}: {error}"


def _most_watches() -> int | None:
    """Return how many directories the system will watch for one user; None where it does not say.

    Source: inotify(7), /proc interfaces.
    """
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text())
    except (OSError, ValueError):
        return None


def _inode(root: str) -> tuple[int, int] | None:
    try:
        found = os.stat(root)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)
