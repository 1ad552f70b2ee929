"""Pulls of the service: in threads of their own, so that a slow server delays nothing."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from catalog.model.errors import PullFailed
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.mirrors.mirror import Mirror, Pulled
from pipeline.sync import mirrors

log = logging.getLogger("skilldrop")

AT_ONCE = 4
"""Pulls at one time."""


class Pulls:
    """The pulls that run or have ended; all methods are for the thread of the service."""

    def __init__(self, settings: Settings, wake: Callable[[], None]) -> None:
        """Take the settings, and a function for any thread that wakes the service."""
        self._settings = settings
        self._mirrors = {mirror.root: mirror for mirror, _ in settings.git_roots}
        self._wake = wake
        self._stopping = threading.Event()
        self._threads = ThreadPoolExecutor(AT_ONCE, "pull") if self._mirrors else None
        self._running: dict[str, Future[Pulled]] = {}
        self._again: set[str] = set()  # pushed to while they were being pulled
        self._troubles: dict[str, str] = {}

    @property
    def is_running(self) -> bool:
        """Whether a pull runs, or waits for its switch."""
        return bool(self._running)

    def begin(self, store: Store) -> None:
        """Pull all repositories now; the catalog is new or was opened again."""
        mirrors.prepare(self._settings, store)
        for root in self._mirrors:
            self.start(root)

    def start(self, root: str) -> None:
        """Pull a repository, unless it is being pulled."""
        if root in self._running or not self._threads:
            return
        self._running[root] = self._threads.submit(self._mirrors[root].pull, self._stopping.is_set)
        self._running[root].add_done_callback(lambda _: self._wake())

    def start_all(self) -> None:
        """Pull all repositories, again if they are being pulled: they have just changed."""
        self._again |= self._running.keys()
        for root in self._mirrors:
            self.start(root)

    def finish(self, store: Store) -> bool:
        """Switch the roots whose pull has ended; return whether a root has new content.

        Not to be called while a scan is running.
        """
        ended = [root for root, pull in self._running.items() if pull.done()]
        changes = [self._finish_one(store, self._mirrors[root]) for root in ended]
        for root in self._again.intersection(ended):
            self._again.discard(root)
            self.start(root)
        return any(changes)

    def stop(self) -> None:
        """End the running pulls."""
        self._stopping.set()
        if self._threads:
            self._threads.shutdown(cancel_futures=True)

    def _finish_one(self, store: Store, mirror: Mirror) -> bool:
        try:
            pulled = self._running.pop(mirror.root).result()
            is_new = mirrors.switch(store, mirror, pulled)
        except PullFailed as error:
            store.mirrors.failed(mirror.root, str(error))
            if self._troubles.get(mirror.root) != str(error):
                log.error("%s The last state stays.", error)
            self._troubles[mirror.root] = str(error)
            return False
        if self._troubles.pop(mirror.root, None):
            log.info("pulled %s again", mirror.origin)
        if is_new:
            log.info("pulled %s: commit %s", mirror.origin, pulled.commit[:12])
        return is_new
