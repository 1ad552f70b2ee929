"""Webhook: a listener on loopback with one route, by which a git server asks for a pull at once.

The signature is that of GitHub, Gitea and Forgejo. Nothing in a request is used but its signature:
each repository is then asked for its newest commit.
"""

import logging
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import ThreadingMixIn
from typing import Any

from catalog.model.errors import SecretMissing, WebhookUnavailable
from pipeline.hooks.hook import Secret

log = logging.getLogger("skilldrop")

PATH = "/pull"
SIGNATURE = "X-Hub-Signature-256"
MOST_BYTES = 2 * 2**20
"""Bytes of a body, at most."""
SECONDS = 10.0
"""Time for a request."""
AT_ONCE = 8
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
        """Listen, unless it listens already. Raises WebhookUnavailable."""
        if self._server:
            return
        try:
            self._secret.sign(b"")
            server = _Server(("127.0.0.1", self._port), _handler(self._secret, self._pull))
        except (SecretMissing, OSError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise WebhookUnavailable(
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
        self._free = threading.BoundedSemaphore(AT_ONCE)

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
