"""Pulls of the roots that are repositories, at intervals or when a git server asks for them."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any

from catalog.filesystem.operations import remove
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.errors import NotPossible, PullFailed, SecretMissing
from catalog.writing.store import Store
from pipeline.config.hook import Secret
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
        self._again: set[str] = set()  # pushed to while they were being pulled
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


PATH = "/pull"
SIGNATURE = "X-Hub-Signature-256"
MOST_BYTES = 2 * 2**20
"""Bytes of a body, at most."""
SECONDS = 10.0
"""Time for a request."""
REQUESTS_AT_ONCE = 8
"""Requests at one time; further connections are closed."""


class Webhook:
    """The listener, in a thread; `ensure` and `stop` are for the thread of the service."""

    def __init__(self, port: int, secret: Secret, pull: Callable[[], None]) -> None:
        """Take a port of 127.0.0.1, the secret, and a function for any thread that asks to pull."""
        self._port = port
        self._secret = secret
        self._pull = pull
        self._server: _Server | None = None

    def ensure(self) -> None:
        """Listen, unless it listens already. Raises NotPossible."""
        if self._server:
            return
        try:
            self._secret.sign(b"")
            server = _Server(("127.0.0.1", self._port), _handler(self._secret, self._pull))
        except (SecretMissing, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise NotPossible(
                f"The webhook does not listen on 127.0.0.1:{self._port}: {reason}."
            ) from error
        threading.Thread(
            target=server.serve_forever, args=(0.1,), name="webhook", daemon=True
        ).start()
        self._server = server

    def stop(self) -> None:
        """Close the port."""
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None


class _Server(ThreadingMixIn, HTTPServer):
    """Server with few threads."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._free = threading.BoundedSemaphore(REQUESTS_AT_ONCE)

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        super().process_request(request, client_address)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that go away."""


def _handler(secret: Secret, pull: Callable[[], None]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = SECONDS
        server_version, sys_version = "skilldrop", ""

        def do_POST(self) -> None:  # http.server calls it
            self._answer(self._status())

        def do_GET(self) -> None:
            self._answer(405)

        def _status(self) -> int:
            if self.path != PATH:
                return 404
            length = self.headers.get("Content-Length") or ""
            if not (length.isascii() and length.isdigit()):
                return 411
            if int(length[:12]) > MOST_BYTES:
                return 413
            body = self._body(int(length))
            try:
                is_ours = secret.matches(body, self.headers.get(SIGNATURE) or "")
            except SecretMissing as error:
                log.warning("webhook refused: %s", error)
                return 503
            if not is_ours:
                return 403
            pull()
            return 202

        def _body(self, length: int) -> bytes:
            until, body = time.monotonic() + SECONDS, b""
            while len(body) < length and time.monotonic() < until:
                if not (chunk := self.rfile.read1(min(length - len(body), 2**16))):
                    break
                body += chunk
            return body

        def _answer(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.send_header("Connection", "close")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
