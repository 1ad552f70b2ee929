"""Probe that requests the health of a running site, in its own thread."""

import threading
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from catalog.site.server import address

ASK_EVERY = 5.0
"""Seconds between two requests; the next one starts only after the last one has ended."""
ANSWER_SECONDS = 10.0
"""Timeout of a request, in seconds."""


class HealthProbe:
    """Health probe of one site. Any HTTP response counts, since it shows that the site works.

    Its methods never wait.
    """

    def __init__(self, host: str, port: int) -> None:
        self._url = urlsplit(address.url(host, port))
        self._thread: threading.Thread | None = None
        self._next = 0.0
        self.misses = 0
        """Latest requests in a row without a response."""
        self.has_answered = False
        """Whether any request ever got a response."""

    def ask_if_due(self, now: float) -> None:
        """Send a request if it is due; now is seconds on a monotonic clock."""
        if now < self._next or (self._thread and self._thread.is_alive()):
            return
        self._next = now + ASK_EVERY
        self._thread = threading.Thread(target=self._ask, name="site health probe", daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        connection = HTTPConnection(self._url.hostname or "", self._url.port, ANSWER_SECONDS)
        try:
            with closing(connection):
                connection.request("GET", "/-/healthz", headers={"Connection": "close"})
                connection.getresponse()
        except (OSError, HTTPException):
            self.misses += 1
        else:
            self.misses, self.has_answered = 0, True
