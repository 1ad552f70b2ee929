"""Probe that asks a running site whether it answers, on a thread of its own."""

import threading
from contextlib import closing
from http.client import HTTPConnection, HTTPException
from urllib.parse import urlsplit

from catalog.site.server import address

ASK_EVERY = 5.0
"""Seconds between two questions, the next one being asked only after an answer to the last."""
ANSWER_SECONDS = 10.0
"""Seconds that the site has to answer."""


class HealthProbe:
    """Questions to one site; any answer over HTTP will do, for it shows that requests are served.

    Whoever looks at it never waits.
    """

    def __init__(self, host: str, port: int) -> None:
        self._url = urlsplit(address.url(host, port))
        self._thread: threading.Thread | None = None
        self._next = 0.0
        self.misses = 0
        """How many questions in a row were not answered, up to now."""
        self.has_answered = False
        """Whether any question was ever answered."""

    def ask_if_due(self, now: float) -> None:
        """Ask, where the time has come; now is seconds on a monotonic clock."""
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
