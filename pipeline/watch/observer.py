"""Watch over directories: path hints from watchdog's events, and faults that may lose some."""

import errno
import logging
import os
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary

from watchdog import events
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers.api import BaseObserver, EventDispatcher
from watchdog.observers.inotify import InotifyEmitter
from watchdog.observers.inotify_c import InotifyFD
from watchdog.utils import BaseThread

from pipeline.roots.file_kinds import is_junk

# "Opened" and "closed without a write" are left out. Our own reading raises them, and the walk
# that adds the watches of a large tree would overflow the queue with them again and again.
_EVENTS: list[type[FileSystemEvent]] = [
    *(events.DirAttribEvent, events.DirCreatedEvent, events.DirDeletedEvent),
    *(events.DirModifiedEvent, events.DirMovedEvent, events.FileAttribEvent),
    *(events.FileClosedEvent, events.FileCreatedEvent, events.FileDeletedEvent),
    *(events.FileModifiedEvent, events.FileMovedEvent),
]
_LONGEST_END = 1.0
"""Seconds to wait for a thread of a watch that stops; a stuck thread ends by itself."""
_OVERFLOW_LOG = logging.getLogger("watchdog.observers.inotify_c")
"""The only sign of an overflow is a warning of this logger."""
_OVERFLOW_LOG.setLevel(logging.WARNING)
_OVERFLOW_LOG.propagate = False  # `Watch.fault` reports it
logging.getLogger("watchdog.observers.inotify").setLevel(logging.CRITICAL)
# Its errors say that an emitter was stopped.

# watchdog 7.1 warns like this during an ordinary `cp -r`.
warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)


@dataclass(frozen=True, slots=True)
class WatchFault:
    """Fault of a watch. After any fault, start a new watch and scan everything."""

    message: str  # without a capital letter or a full stop
    is_of_watch: bool = True  # False if only a root or a folder in it has changed


OVERFLOWED = WatchFault("the event queue overflowed")
EXCHANGED = WatchFault("a folder was exchanged for another", False)  # watchdog confuses the two
LIMIT_REACHED = WatchFault("there are more directories than the system will watch for one user")


class Watch:
    """One watchdog observer over all roots. After any fault, start it again and scan."""

    def __init__(self, roots: Sequence[str], on_hint: Callable[[str], None]) -> None:
        """Take absolute root paths and a callback for hinted paths, called on another thread."""
        self._roots = roots
        self._on_hint = on_hint
        self._reader: InotifyFD | None = None  # thread that reads the system's events
        self._observer: BaseObserver | None = None
        """Thread that passes the events of one emitter a root to the handlers."""
        self._overflow: _OverflowHandler | None = None
        self._handlers: list[_HintHandler] = []
        self._inodes: dict[str, tuple[int, int] | None] = {}

    def start(self) -> None:
        """Start to watch the existing roots. Raises OSError if one cannot be watched.

        ENOSPC: the system's limit is too low for all directories, and none is watched, as a partial
        watch takes as much memory as a large catalog.
        """
        if (limit := watch_limit()) is not None and self._count_directories() > limit:
            raise OSError(errno.ENOSPC, LIMIT_REACHED.message)
        # The reader is this watch's own. watchdog's shared one is never replaced once it has died.
        self._reader = reader = InotifyFD()
        self._observer = observer = BaseObserver(InotifyEmitter, inotify_fd=reader)
        self._overflow = _OverflowHandler(reader, observer)
        self._inodes.clear()
        self._handlers.clear()
        threading.excepthook = _note_error
        try:
            reader.start()
            for root in self._roots:
                if Path(root).is_dir():
                    real = os.path.realpath(root)  # watchdog follows no link
                    handler = _HintHandler(self._on_hint, root, real)
                    observer.schedule(handler, real, recursive=True, event_filter=_EVENTS)
                    self._handlers.append(handler)
                    self._inodes[root] = _inode(root)
            observer.start()
        except BaseException as error:
            self.stop()
            if isinstance(error, RecursionError):  # of os.walk in watchdog, before Python 3.12
                raise OSError(errno.ELOOP, "directories are nested too deeply") from error
            if isinstance(error, RuntimeError):
                raise OSError(errno.EAGAIN, "no more threads can be started") from error
            raise

    def fault(self) -> WatchFault | None:
        """Return why events may have been missed; None while the watch is sound."""
        if self._overflow and self._overflow.has_overflowed:
            return OVERFLOWED
        if any(handler.has_exchanged for handler in self._handlers):
            return EXCHANGED
        for root in self._roots:
            if self._inodes.get(root) != (inode := _inode(root)):
                change = "was replaced" if inode else "is gone"
                return WatchFault(f"the root {root} {change}", False)
        if not self._observer:
            return WatchFault("the watch is not running")
        for emitter in self._observer.emitters:
            if not emitter.should_keep_running():  # it ends with its directory
                path = os.fsdecode(emitter.watch.path)
                return WatchFault(f"the root {path} was deleted", False)
        for thread in self._threads():
            if not thread.is_alive():
                error = _ERRORS.get(thread)
                message = "a watch thread ended" + (f": {error}" if error else "")
                return WatchFault(message)
        return None

    def count_unwatched(self) -> int:
        """Return the number of directories that are not watched; this lists all directories.

        A directory that was moved out of its root is still watched, and may hide another.
        """
        return max(0, self._count_directories() - watched_directories()) if self._observer else 0

    def stop(self) -> None:
        """Stop watching and wait for each thread, for a second at most.

        The reader is first: its end removes all watches at once. `observer.stop` would wait without
        a limit for an emitter that an error of watchdog keeps.
        """
        if self._overflow:
            _OVERFLOW_LOG.removeHandler(self._overflow)
        if self._reader and self._observer:
            threads = self._threads()
            _stop(self._reader, *self._observer.emitters)
            self._observer.stopped_event.set()
            self._observer.event_queue.put(EventDispatcher.stop_event)
            until = time.monotonic() + _LONGEST_END
            for thread in threads:
                if thread.is_alive():
                    thread.join(max(0.0, until - time.monotonic()))
        self._reader = self._observer = self._overflow = None

    def _threads(self) -> list[threading.Thread]:
        if not (self._reader and self._observer):
            return []
        return [self._reader, self._observer, *self._observer.emitters]

    def _count_directories(self) -> int:
        return sum(_directories_below(os.path.realpath(root)) for root in self._roots)


def _stop(*threads: BaseThread) -> None:
    for thread in threads:
        # An error of watchdog, if directories were exchanged while it watched them.
        with suppress(KeyError):
            thread.stop()


class _OverflowHandler(logging.Handler):
    """Handler of watchdog's log that notices the overflow of one watch.

    It stops the emitters, so that watchdog does not add all watches again: the events of that
    would overflow the queue of a large tree again and again.
    """

    def __init__(self, reader: InotifyFD, observer: BaseObserver) -> None:
        super().__init__(logging.WARNING)
        self.has_overflowed = False
        self._reader, self._observer = reader, observer
        _OVERFLOW_LOG.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        if record.thread == self._reader.ident:
            self.has_overflowed = True
            _stop(*self._observer.emitters)


class _HintHandler(FileSystemEventHandler):
    """Passes on the paths of an event, and notices exchanges; an error would end the thread.

    An exchange arrives as two moves, each the reverse of the other. watchdog then takes either
    folder for the other one, and ends with a KeyError once one of them is removed.
    """

    def __init__(self, on_hint: Callable[[str], None], root: str, real_root: str) -> None:
        self._on_hint = on_hint
        self._root, self._real_root = root, real_root
        self._way_back: tuple[bytes | str, bytes | str] | None = None
        self.has_exchanged = False

    def on_any_event(self, event: FileSystemEvent) -> None:
        if isinstance(event, events.DirMovedEvent) and not event.is_synthetic:
            is_back = self._way_back == (event.src_path, event.dest_path)
            # A folder that was renamed there and back leaves nothing where it was.
            self.has_exchanged |= is_back and os.path.lexists(event.src_path)
            self._way_back = (event.dest_path, event.src_path)
        for path in (event.src_path, event.dest_path):
            if path:
                below = os.fsdecode(path).removeprefix(self._real_root)
                if not any(map(is_junk, below.split("/")[:-1])):
                    self._on_hint(self._root + below)


_ERRORS: WeakKeyDictionary[threading.Thread, str] = WeakKeyDictionary()
_other_threads_hook = threading.excepthook


def _note_error(ended: threading.ExceptHookArgs) -> None:
    """Record the error that ended a thread of watchdog; `Watch.fault` reports it."""
    if isinstance(ended.thread, BaseThread):
        _ERRORS[ended.thread] = f"{ended.exc_type.__name__}: {ended.exc_value}"
    else:
        _other_threads_hook(ended)


def watch_limit() -> int | None:
    """Return how many directories the system watches for one user; None if unknown.

    Source: inotify(7), /proc interfaces.
    """
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text())
    except (OSError, ValueError):
        return None


def watched_directories() -> int:
    """Return how many directories the system watches for this process.

    Source: proc_pid_fdinfo(5), inotify.
    """
    count = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            if os.readlink(descriptor) == "anon_inode:inotify":
                described = Path("/proc/self/fdinfo", descriptor.name).read_bytes()
                count += described.count(b"inotify wd:")
    return count


def _directories_below(root: str) -> int:
    """Return the number of directories that can be watched, with the root."""
    count, pending = 0, [root]
    while pending:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            count += 1
            pending += [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
    return count


def _inode(root: str) -> tuple[int, int] | None:
    try:
        stat = os.stat(root)
    except OSError:
        return None
    return (stat.st_dev, stat.st_ino)
