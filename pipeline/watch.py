"""Turns watchdog's events into path hints, and knows when it may have missed some."""

import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from watchdog.events import (
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
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver

# Opened and closed-without-write are left out: our own reading raises them, and unfiltered the
# walk that adds the watches overflows the queue of a large tree, again and again.
_HEARD: list[type[FileSystemEvent]] = [
    DirCreatedEvent, DirDeletedEvent, DirModifiedEvent, DirMovedEvent, FileAttribEvent,
    FileClosedEvent, FileCreatedEvent, FileDeletedEvent, FileModifiedEvent, FileMovedEvent,
]
OVERFLOWED = "the event queue overflowed"
"""The doubt that is counted in the health of the service."""
_OVERFLOW_LOGGER = "watchdog.observers.inotify_c"


class Watch:
    """One watchdog observer over all roots. After any doubt, make a new one and scan."""

    def __init__(self, roots: Sequence[str], heard: Callable[[str], None]) -> None:
        """Take absolute root paths and what to call, on another thread, with each hinted path."""
        self._observer: BaseObserver | None = None
        self._hints = _Hints(heard)
        self._overflow = _Overflow()
        self._roots = roots
        self._inodes: dict[str, tuple[int, int] | None] = {}

    def start(self) -> None:
        """Begin to listen to the roots that are there. Raises OSError if one cannot be."""
        logging.getLogger(_OVERFLOW_LOGGER).addHandler(self._overflow)
        observer = Observer()
        for root in self._roots:
            if Path(root).is_dir():
                observer.schedule(self._hints, root, recursive=True, event_filter=_HEARD)
                self._inodes[root] = _inode(root)
        try:
            observer.start()
        except OSError:
            observer.unschedule_all()  # some emitters may have started already
            raise
        self._observer = observer

    def doubt(self) -> str | None:
        """Return why events may have been missed; None while there is no sign of it."""
        if self._overflow.happened:
            return OVERFLOWED
        if self._observer is None or not self._observer.is_alive() or not all(
            emitter.is_alive() for emitter in self._observer.emitters
        ):
            return "a watching thread died"
        for root in self._roots:
            if self._inodes.get(root) != _inode(root):
                return f"the root {root} was replaced"
        return None

    def stop(self) -> None:
        """Stop listening and wait for the thread, for a second at most."""
        logging.getLogger(_OVERFLOW_LOGGER).removeHandler(self._overflow)
        if self._observer and self._observer.is_alive():
            self._observer.stop()
            self._observer.join(timeout=1)


class _Hints(FileSystemEventHandler):
    """Hands over the paths of an event and does no work: an error here would end the thread."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        self._heard = heard

    def on_any_event(self, event: FileSystemEvent) -> None:
        self._heard(os.fsdecode(event.src_path))
        if event.dest_path:
            self._heard(os.fsdecode(event.dest_path))


class _Overflow(logging.Handler):
    """Notices the one trace that a lost event leaves: a warning in watchdog's log."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.happened = False

    def emit(self, record: logging.LogRecord) -> None:
        self.happened = self.happened or "overflow" in record.getMessage()


def _inode(root: str) -> tuple[int, int] | None:
    try:
        found = os.stat(root)
    except OSError:
        return None
    return (found.st_dev, found.st_ino)
