"""Watch over directories: path hints from watchdog's events, and faults that may lose some."""

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

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

from pipeline.roots.local.folder import Limits
from pipeline.roots.names import is_junk
from pipeline.watch.fault import LIMIT_REACHED, OVERFLOWED, FaultKind, WatchFault
from pipeline.watch.inotify import InotifyObserver

# "Opened" and "closed without a write" are left out. Our own reading raises them, and the walk
# that adds the watches of a large tree would overflow the queue with them again and again.
_EVENTS: list[type[FileSystemEvent]] = [
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


class WatchLimitReached(OSError):
    """More directories than the system watches for one user."""


class Watch:
    """One watchdog observer over all roots. After any fault, start a new one and scan."""

    def __init__(
        self, roots: Sequence[str], on_hint: Callable[[str], None], depth: int = Limits().depth
    ) -> None:
        """Take absolute root paths and a callback for hinted paths, called on another thread.

        Directories more than `depth` levels below a root are not watched.
        """
        self._roots = roots
        self._depth = depth
        self._on_hint = on_hint
        self._observer: InotifyObserver | None = None
        self._inodes: dict[str, tuple[int, int] | None] = {}

    def start(self) -> None:
        """Start to watch the existing roots. Raises OSError if one cannot be watched.

        Raises WatchLimitReached, and watches nothing, if the system's limit is too low for all
        directories: a partial watch takes as much memory as a large catalog.
        """
        if (limit := watch_limit()) is not None and any(
            number > limit for number, _ in enumerate(self._all_directories(), 1)
        ):
            raise WatchLimitReached(errno.ENOSPC, LIMIT_REACHED.message)
        real = {root: os.path.realpath(root) for root in self._roots}  # watchdog follows no link
        observer = InotifyObserver(list(real.values()), self._depth)
        try:
            for root in self._roots:
                if Path(root).is_dir():
                    observer.schedule(
                        _HintHandler(self._on_hint, root, real[root]),
                        real[root],
                        recursive=True,
                        event_filter=_EVENTS,
                    )
                    self._inodes[root] = _inode(root)
            observer.start()
        except RecursionError as error:  # of os.walk in watchdog, before Python 3.12
            observer.end()
            raise OSError(errno.ELOOP, "directories are nested too deeply") from error
        except RuntimeError as error:
            observer.end()
            raise OSError(errno.EAGAIN, "no more threads can be started") from error
        except BaseException:
            observer.end()
            raise
        self._observer = observer

    def fault(self) -> WatchFault | None:
        """Return why events may have been missed; None while the watch is sound."""
        if self._observer and self._observer.inotify.has_overflowed:
            return OVERFLOWED
        for root in self._roots:
            if self._inodes.get(root) != (inode := _inode(root)):
                change = "was replaced" if inode else "is gone"
                return WatchFault(FaultKind.ROOT_CHANGED, f"the root {root} {change}")
        if self._observer is None:
            return WatchFault(FaultKind.NOT_STARTED, "the watch is not running")
        for thread in self._observer.threads():
            if not thread.is_alive():
                return thread.fault or WatchFault(FaultKind.THREAD_ENDED, "a watch thread ended")
        return LIMIT_REACHED if self._observer.inotify.refused else None

    @property
    def may_miss_directories(self) -> bool:
        """Whether some directories may be unwatched since the last `count_unwatched`.

        A new directory was deleted, or its parent was renamed, before it could be watched; or
        its permissions forbade that and have changed.
        """
        return self._observer is not None and self._observer.inotify.has_missed

    def count_unwatched(self) -> int:
        """Return the number of directories that are not watched; this lists all directories."""
        if self._observer:
            self._observer.inotify.has_missed = False
        return sum(
            not (self._observer and self._observer.watches(path))
            for path in self._all_directories()
        )

    def stop(self) -> None:
        """Stop watching and wait for the threads, for a second at most."""
        if self._observer:
            self._observer.end()
            self._observer = None

    def _all_directories(self) -> Iterator[str]:
        """Yield the real path of every directory that should be watched."""
        pending = [(os.path.realpath(root), 0) for root in self._roots]
        while pending:
            path, depth = pending.pop()
            with suppress(OSError), os.scandir(path) as entries:
                yield path
                pending += [
                    (entry.path, depth + 1)
                    for entry in entries
                    if depth < self._depth
                    and not is_junk(entry.name)
                    and entry.is_dir(follow_symlinks=False)
                ]


def watch_limit() -> int | None:
    """Return how many directories the system watches for one user; None if unknown.

    Source: inotify(7), /proc interfaces.
    """
    try:
        return int(Path("/proc/sys/fs/inotify/max_user_watches").read_text())
    except (OSError, ValueError):
        return None


class _HintHandler(FileSystemEventHandler):
    """Passes on the paths of an event and does nothing else: an error would end the thread."""

    def __init__(self, on_hint: Callable[[str], None], root: str, real_root: str) -> None:
        self._on_hint = on_hint
        self._root, self._real_root = root, real_root

    def on_any_event(self, event: FileSystemEvent) -> None:
        for path in (event.src_path, event.dest_path):
            if path:
                self._on_hint(self._root + os.fsdecode(path).removeprefix(self._real_root))


def _inode(root: str) -> tuple[int, int] | None:
    try:
        stat = os.stat(root)
    except OSError:
        return None
    return (stat.st_dev, stat.st_ino)
