"""Pulls of the roots that are repositories."""

import logging
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from catalog.filesystem.by_descriptor import remove
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.errors import PullFailed
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.mirrors.mirror import Mirror, Pulled


def prepare(settings: Settings, store: Store) -> None:
    """Create the folder of the mirrors, and remove mirrors that nothing needs.

    Raises FolderNotOwned and OSError.
    """
    unused = store.mirrors.unused()
    if not settings.git_roots and not unused:
        return
    with store.folders.opened(OwnedFolder(settings.mirrors_folder, "mirrors")) as dir_fd:
        for root in unused:
            folder = Path(root).parent
            if folder.parent == settings.mirrors_folder:
                remove(folder.name, dir_fd)
            store.mirrors.forget(root)


def pull_all(settings: Settings, store: Store) -> list[str]:
    """Pull each repository and switch its root to the result; return the failures.

    A root whose pull fails keeps its last state.
    """
    prepare(settings, store)
    failures = []
    for mirror, _ in settings.git_roots:
        try:
            pulled = mirror.pull()
            switch(store, mirror, pulled)
        except PullFailed as error:
            store.mirrors.failed(mirror.root, str(error))
            failures.append(str(error))
    return failures


def of_pulled(settings: Settings, troubles: Mapping[str, str]) -> list[str]:
    """Return the troubles of roots, given by their paths, but not of repositories never pulled.

    Such a repository has no folder yet, and its pull reports why.
    """
    unpulled = {mirror.root for mirror, _ in settings.git_roots if mirror.tree is None}
    return [trouble for root, trouble in troubles.items() if root not in unpulled]


def switch(store: Store, mirror: "Mirror", pulled: "Pulled") -> bool:
    """Switch a root to pulled content and store that; return whether the content is new.

    No scan may be running: all versions of one scan have one commit. Raises PullFailed.
    """
    is_new = mirror.tree != pulled.tree
    try:
        mirror.switch(pulled)
    except OSError as error:
        raise PullFailed(f"{mirror.origin} could not be switched: {error}.") from error
    store.mirrors.pulled(mirror.root, pulled.commit, datetime.now(UTC))
    return is_new


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
        prepare(self._settings, store)
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
            is_new = switch(store, mirror, pulled)
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
