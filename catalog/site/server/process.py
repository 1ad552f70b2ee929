"""Child process of the site, which is probed, kept running and never outlives its parent."""

import logging
import os
import subprocess
import sys
import threading
from contextlib import AbstractContextManager, closing, nullcontext
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from catalog.database import connection
from catalog.model.errors import SkilldropError
from catalog.model.setting import SiteSettings
from catalog.site import address

log = logging.getLogger("skilldrop.site")

STOPPING = 1.5
"""Seconds for the site to end before it is killed."""
LONGEST_PAUSE = 60.0
"""Most seconds between two attempts to start a site that keeps ending."""
STEADY = 60.0
"""Seconds of running after which earlier failures are forgotten."""
MOST_MISSES = 3
"""Health requests in a row without a response after which the site is replaced."""
STARTING = 60.0
"""Seconds for a new site to respond for the first time."""
ASK_EVERY = 5.0
"""Seconds between two health requests; the next one starts only after the last one has ended."""
ANSWER_SECONDS = 10.0
"""Timeout of a health request, in seconds."""


class SiteProcess:
    """The site's process, with all settings to start it again."""

    def __init__(
        self,
        catalog: Path,
        host: str,
        port: int,
        log_file: Path | None = None,
        settings: SiteSettings = SiteSettings(),  # noqa: B008  # it is frozen
        *,
        usage: bool = True,
    ) -> None:
        """Take the catalog, the address, the log file and the other settings.

        Without a log file the site writes to the output of this process.
        """
        self._catalog, self._log_file = catalog, log_file
        self._settings, self._usage = settings, usage
        self.host, self.port = host, port
        self._probe = HealthProbe(host, port)
        self._kill_at: float | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._pause = 0.0
        self._running_since: float | None = None
        self.trouble: str | None = None
        """Reason why the site is unavailable, as a sentence; None if it works or was stopped.

        A site that is starting has no trouble, unless it replaces one that failed.
        """
        self.failures = 0
        """Number of times the site ended, or had to be ended, since it last ran steadily."""
        self.next_start: float | None = None
        """Time of the next start, on the clock of `ensure_running`; None while the site runs."""

    @property
    def url(self) -> str:
        """URL of the site for a browser on this machine."""
        return address.url(self.host, self.port)

    @property
    def pid(self) -> int | None:
        """Id of the current or last process; None before `start` and after `stop`."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the site, which responds about a second later.

        Raises NotInCatalog without a catalog, CatalogUnusable if it cannot be read, and
        NotPossible if the address is not available.
        """
        connection.open_catalog(self._catalog).conn.close()
        address.check(self.host, self.port)
        self._warn_once()
        with self._output() as output:
            process = subprocess.Popen(
                self._command(),
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=_environment(),
                start_new_session=True,  # Ctrl-C reaches only the parent, which stops the site
            )
        self._release()
        self._process = process
        self._running_since = self.next_start = self._kill_at = None
        self._probe = HealthProbe(self.host, self.port)

    def ensure_running(self, now: float) -> None:
        """Restart the site if it died: the first time at once, then after ever longer pauses.

        A running site is probed, and ended if it does not respond: one of its threads may be busy
        for hours with one query. This method never waits.

        now is seconds on a monotonic clock. Before `start` and after `stop` nothing happens. No
        error is raised: it is logged, and the start is tried again later.
        """
        if self._process is None:
            return
        if self._process.poll() is None:
            self._supervise(self._process, now)
            return
        if self.next_start is None:
            self._put_off(
                now,
                f"The site did not answer {MOST_MISSES} times and was ended"
                if self._kill_at is not None
                else f"The site ended with code {self._process.returncode}",
            )
        if self.next_start is not None and now >= self.next_start:
            try:
                self.start()
            except (SkilldropError, OSError) as error:
                self._put_off(now, str(error))

    def stop(self) -> None:
        """Stop the site; it is not started again."""
        if not (process := self._process):
            return
        process.terminate()
        try:
            process.wait(STOPPING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._release()
        self.trouble = None

    def _warn_once(self) -> None:
        if self._process is None and (
            warning := address.warning(
                self._catalog, self.host, behind_proxy=self._settings.behind_proxy
            )
        ):
            log.warning("%s", warning)

    def _supervise(self, process: subprocess.Popen[bytes], now: float) -> None:
        """Probe a running site; terminate it if it does not respond, and finally kill it."""
        self._running_since = now if self._running_since is None else self._running_since
        if self._kill_at is not None:
            if now >= self._kill_at:
                process.kill()
            return
        age = now - self._running_since
        probe = self._probe
        probe.ask_if_due(now)
        if probe.has_answered and not probe.misses:
            if age >= STEADY:
                self._pause, self.failures = 0.0, 0
            if self.failures < 2:  # a site that keeps ending is in trouble until it runs steadily
                self.trouble = None
        elif probe.misses >= MOST_MISSES and (probe.has_answered or age >= STARTING):
            self.trouble = "The site does not answer; it is being replaced."
            self._kill_at = now + STOPPING
            process.terminate()

    def _release(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()
        self._process = None

    def _put_off(self, now: float, reason: str) -> None:
        self.next_start = now + self._pause
        self.trouble, self.failures = f"{reason.removesuffix('.')}.", self.failures + 1
        pause, self._pause = self._pause, min(max(1.0, 2 * self._pause), LONGEST_PAUSE)
        log.warning("%s; starting it again%s", reason, f" in {pause:g} s" if pause else "")

    def _output(self) -> AbstractContextManager[IO[bytes] | None]:
        return self._log_file.open("ab") if self._log_file else nullcontext()

    def _command(self) -> list[str]:
        # -P: the working directory may contain another package `catalog`.
        return [
            sys.executable,
            "-P",
            "-m",
            "catalog.site",
            str(self._catalog),
            "--with-parent",
            "--host",
            self.host,
            "--port",
            str(self.port),
            "--settings",
            self._settings.model_dump_json(),
            *(() if self._usage else ("--no-usage",)),
            *(["--log", str(self._log_file)] if self._log_file else ()),
        ]


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


def _environment() -> dict[str, str]:
    """Return this process's environment, with a path on which the child finds this package."""
    paths = [str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
