"""Threads of a running watch, for tests that find or delay them."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from watchdog.observers.inotify_c import InotifyEvent

from pipeline.watch.inotify import InotifyObserver
from tests.support.waiting import PATIENCE


def observer_of(root: Path) -> InotifyObserver:
    """Return the observer of this process that watches a root and was not stopped."""
    path = os.path.realpath(root)
    (observer,) = [
        thread
        for thread in threading.enumerate()
        if isinstance(thread, InotifyObserver)
        and thread.should_keep_running()
        and path in {emitter.watch.path for emitter in thread.emitters}
    ]
    return observer


def watched_by(observer: InotifyObserver) -> int:
    """Return how many directories the system watches for an observer.

    Source: proc_pid_fdinfo(5), inotify.
    """
    described = Path(f"/proc/self/fdinfo/{observer.inotify._inotify_fd}").read_text()
    return described.count("inotify wd:")


@contextmanager
def delayed_events(observer: InotifyObserver) -> Iterator[None]:
    """Let the thread that reads the system's events wait before it handles the next one."""
    handle, may_go_on = observer.inotify.handle_event, threading.Event()

    def wait_and_handle(event: InotifyEvent) -> None:
        may_go_on.wait(PATIENCE)
        handle(event)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(observer.inotify, "handle_event", wait_and_handle)
        try:
            yield
        finally:
            may_go_on.set()
