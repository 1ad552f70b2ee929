"""The thread of a running watch that reads the system's events, for tests that end or delay it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from watchdog.observers.inotify_c import InotifyEvent, InotifyFD

from tests.support.waiting import PATIENCE


def running_readers() -> list[InotifyFD]:
    """Return the threads of this process that read events and were not stopped."""
    return [
        thread
        for thread in threading.enumerate()
        if isinstance(thread, InotifyFD) and thread.should_keep_running()
    ]


def running_reader() -> InotifyFD:
    """Return the one such thread."""
    (reader,) = running_readers()
    return reader


@contextmanager
def delayed_events() -> Iterator[None]:
    """Let the thread that reads the system's events wait before it handles the next one."""
    reader = running_reader()
    handle, may_go_on = reader.handle_event, threading.Event()

    def wait_and_handle(event: InotifyEvent) -> None:
        may_go_on.wait(PATIENCE)
        handle(event)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "handle_event", wait_and_handle)
        try:
            yield
        finally:
            may_go_on.set()
