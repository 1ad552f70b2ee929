"""Pulls of the roots that are repositories, at intervals or before a scan that a user starts."""

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from catalog.filesystem.operations import remove
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.errors import PullFailed
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.mirrors.mirror import Mirror, Pulled

log = logging.getLogger("skilldrop")

AT_ONCE = 4
"""Pulls at one time."""


class Pulls:
    """Pulls in threads of their own, so that a slow server delays nothing.

    All methods are for the thread of the loop.
    """

    def __init__(self, settings: Settings, store: Store, wake: Callable[[], None]) -> None:
        """Take a function for any thread that wakes the loop."""
        self._settings = settings
        self._store = store
        self._mirrors = {mirror.root: mirror for mirror, _ in settings.git_roots}
        self._wake = wake
        self._stopping = threading.Event()
        self._threads = ThreadPoolExecutor(AT_ONCE, "pull") if self._mirrors else None
        self._running: dict[str, Future[Pulled]] = {}
        self._again: set[str] = set()  # asked for while they were being pulled
        self.failures: dict[str, str] = {}
        """Failures of the last pulls, by root; such a root keeps its last state."""

    @property
    def is_running(self) -> bool:
        """Whether a pull runs, or waits for its switch."""
        return bool(self._running)

    @property
    def have_ended(self) -> bool:
        """Whether a pull waits for its switch."""
        return any(pull.done() for pull in self._running.values())

    def begin(self) -> None:
        """Remove the mirrors that nothing needs, and pull all repositories now.

        Raises FolderNotOwned and OSError.
        """
        unused = self._store.roots.unused_mirrors()
        if not self._mirrors and not unused:
            return
        mirrors = self._settings.mirrors_folder
        with self._store.folders.opened(OwnedFolder(mirrors, "mirrors")) as dir_fd:
            for root in unused:
                folder = Path(root).parent
                if folder.parent == mirrors:
                    remove(folder.name, dir_fd)
                self._store.roots.forget_mirror(root)
        self.start(*self._mirrors)

    def start(self, *roots: str) -> None:
        """Pull repositories, except those that are being pulled."""
        for root in roots:
            if root not in self._running and self._threads:
                pull = self._threads.submit(self._mirrors[root].pull, self._stopping.is_set)
                pull.add_done_callback(lambda _: self._wake())
                self._running[root] = pull

    def start_all(self) -> None:
        """Pull all repositories, again if they are being pulled: they have just changed."""
        self._again |= self._running.keys()
        self.start(*self._mirrors)

    def finish(self) -> bool:
        """Switch the roots whose pull has ended; return whether a root has new content.

        No scan may be running: all versions of one scan have one commit.
        """
        ended = [root for root, pull in self._running.items() if pull.done()]
        changes = [self._finish_one(self._mirrors[root]) for root in ended]
        self.start(*self._again.intersection(ended))
        self._again.difference_update(ended)
        return any(changes)

    def stop(self) -> None:
        """End the running pulls."""
        self._stopping.set()
        if self._threads:
            self._threads.shutdown(cancel_futures=True)

    def _finish_one(self, mirror: Mirror) -> bool:
        """Switch a root to pulled content and store that; return whether the content is new."""
        before = mirror.tree
        try:
            pulled = self._running.pop(mirror.root).result()
            mirror.switch(pulled)
        except PullFailed as error:
            self._store.roots.pull_failed(mirror.root, str(error))
            self.failures[mirror.root] = str(error)
            return False
        self._store.roots.pulled(mirror.root, pulled.commit, datetime.now(UTC))
        if self.failures.pop(mirror.root, None):
            log.info("pulled %s again", mirror.origin)
        if is_new := before != pulled.tree:
            log.info("pulled %s: commit %s", mirror.origin, pulled.commit[:12])
        return is_new


def of_pulled(settings: Settings, troubles: Mapping[str, str]) -> list[str]:
    """Return the troubles of roots, given by their paths, but not of repositories never pulled.

    Such a repository has no folder yet, and its pull reports why.
    """
    unpulled = {mirror.root for mirror, _ in settings.git_roots if mirror.tree is None}
    return [trouble for root, trouble in troubles.items() if root not in unpulled]
