"""Keeps the site running as a child process, which never outlives its parent."""

import logging
import os
import subprocess
import sys
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import IO

from catalog import search
from catalog.errors import SkilldropError
from catalog.site import address

log = logging.getLogger("skilldrop.site")

STOPPING = 1.5
"""Seconds that the site has to end before it is killed."""
LONGEST_PAUSE = 60.0
"""Seconds between two attempts to start a site that does not stay up, at most."""
STEADY = 60.0
"""Seconds after which a site that runs is no longer taken for one that does not stay up."""
LOG_BYTES = 2**20
"""A log larger than this is set aside, as `<name>.1`, when the site starts."""


class SiteProcess:
    """The site and what is needed to start it again."""

    def __init__(self, catalog: Path, host: str, port: int, log_file: Path | None = None) -> None:
        """Take what to serve and where; without a log file the site writes where we do."""
        self._catalog, self._host, self._port, self._log_file = catalog, host, port, log_file
        self._process: subprocess.Popen[bytes] | None = None
        self._pause = 0.0
        self._running_since: float | None = None
        self._not_before: float | None = None

    @property
    def url(self) -> str:
        """Where a browser on this machine finds the site."""
        return address.url(self._host, self._port)

    @property
    def pid(self) -> int | None:
        """The process that serves, or did last; None before `start` and after `stop`."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Start the site; it answers about a second later.

        Raises NotInCatalog where there is no catalog yet, CatalogUnusable where it cannot be
        read, and SiteUnavailable where the address cannot be had.
        """
        search.open_catalog(self._catalog).conn.close()
        address.check(self._host, self._port)
        with self._output() as output:
            process = subprocess.Popen(
                self._command(), stdin=subprocess.PIPE, stdout=output, stderr=output,
                env=_environment(),
                start_new_session=True,  # a Ctrl-C is for us, and we stop the site in our order
            )
        self._let_go()
        self._process = process
        self._running_since = self._not_before = None

    def ensure_running(self, now: float) -> None:
        """Start the site again where it died: at once, then after ever longer pauses.

        now is seconds on a monotonic clock. Before `start` and after `stop` nothing happens, and
        nothing is raised: what goes wrong is logged, and tried again later.
        """
        if self._process is None:
            return
        if self._process.poll() is None:
            self._running_since = now if self._running_since is None else self._running_since
            if now - self._running_since >= STEADY:
                self._pause = 0.0
            return
        if self._not_before is None:
            self._put_off(now, f"The site ended with code {self._process.returncode}")
        if self._not_before is not None and now >= self._not_before:
            try:
                self.start()
            except (SkilldropError, OSError) as error:
                self._put_off(now, str(error))

    def wait(self) -> int:
        """Return the exit code once the site has ended."""
        if not (process := self._process):
            return 0
        with suppress(ChildProcessError):
            # Popen.wait holds a lock meanwhile, for which `stop` in a signal handler would wait.
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        return process.wait()

    def stop(self) -> None:
        """End the site for good."""
        if not (process := self._process):
            return
        process.terminate()
        try:
            process.wait(STOPPING)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._let_go()

    def _let_go(self) -> None:
        if self._process and self._process.stdin:
            self._process.stdin.close()
        self._process = None

    def _put_off(self, now: float, why: str) -> None:
        self._not_before = now + self._pause
        pause, self._pause = self._pause, min(max(1.0, 2 * self._pause), LONGEST_PAUSE)
        log.warning("%s; starting it again%s", why, f" in {pause:g} s" if pause else "")

    def _output(self) -> AbstractContextManager[IO[bytes] | None]:
        file = self._log_file
        if not file:
            return nullcontext()
        if file.exists() and file.stat().st_size > LOG_BYTES:
            file.replace(file.with_name(f"{file.name}.1"))
        return file.open("ab")

    def _command(self) -> list[str]:
        # -P: the working directory may hold a `catalog` of its own.
        return [sys.executable, "-P", "-m", "catalog.site", str(self._catalog), "--with-parent",
                "--host", self._host, "--port", str(self._port)]


def _environment() -> dict[str, str]:
    """Return ours, in which the child finds this package where it is not installed."""
    paths = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
