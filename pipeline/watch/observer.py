"""Path hints from watchdog's events, and the cases in which some may be missing."""

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
from pipeline.watch.inotify import InotifyObserver

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
        self._observer: InotifyObserver | None = None
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
        observer = InotifyObserver(list(real.values()), self._depth)
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
