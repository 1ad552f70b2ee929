"""Site and service as processes of their own, measured from outside."""

import http.client
import os
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from timing import seconds_of

from catalog.site.server.process import SiteProcess
from pipeline.config.settings import Settings


class Client:
    """Client that measures one site over one connection."""

    def __init__(self, port: int, site: SiteProcess) -> None:
        self.site = site
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def __call__(self, path: str, headers: dict[str, str], count: int = 100) -> float:
        """Return the median seconds of a response."""
        return statistics.median(
            [seconds_of(lambda: self._get(path, headers)) for _ in range(count + 5)][5:]
        )

    def tag(self, path: str) -> str:
        """Return the ETag of a response."""
        return self._get(path, {}).headers["ETag"] or ""

    def _get(self, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        self.connection.request("GET", path, headers=headers)
        response = self.connection.getresponse()
        response.read()
        assert response.status in (200, 304), f"{path} returns {response.status}"
        return response


def processor_time(site: SiteProcess) -> float:
    """Return the seconds of the processor that a site has used."""
    fields = Path(f"/proc/{site.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def site(settings: Settings) -> Iterator[Client]:
    """Run the site of a catalog, and yield a client of it."""
    with running(settings.catalog_path) as client:
        yield client


@contextmanager
def served(catalog: Path) -> Iterator[str]:
    """Run the site of a catalog, and yield its origin."""
    with running(catalog) as client:
        yield f"http://127.0.0.1:{client.connection.port}"


@contextmanager
def running(catalog: Path) -> Iterator[Client]:
    """Run the site of a catalog, and yield a client of it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    site = SiteProcess(catalog, "127.0.0.1", port, catalog.with_name("site.log"))
    site.start()
    client = Client(port, site)
    try:
        wait_for(lambda: _is_ready(client))
        yield client
    finally:
        site.stop()


def _is_ready(client: Client) -> bool:
    try:
        return client.tag("/-/healthz") is not None
    except OSError:
        client.connection.close()
        return False


class ServiceMemory(NamedTuple):
    """Memory of a service in MiB, and how it follows the folder."""

    most: float
    at_rest: float
    watcher: str  # "native" or "polling"


def service_memory(settings: Settings) -> ServiceMemory:
    """Return the memory of a service that starts and scans all roots."""
    began = datetime.now(UTC).isoformat()
    up = subprocess.Popen(
        [
            Path(sys.executable).with_name("skilldrop"),
            "--watched",
            settings.root_specs[0].path,
            "--data",
            settings.data,
            "up",
            "--no-site",
        ],
        stderr=subprocess.DEVNULL,
        env=os.environ | {"SKILLDROP_PUBLISH": settings.publish, "SKILLDROP_SETTLE_QUIET": "0"},
    )
    try:
        wait_for(lambda: up.poll() is not None or is_quiet(settings.catalog_path, began), 1800)
        status = Path(f"/proc/{up.pid}/status").read_text()
        most, at_rest = (
            int(status.split(f"{field}:")[1].split()[0]) / 1024 for field in ("VmHWM", "VmRSS")
        )
        with sqlite3.connect(f"file:{settings.catalog_path}?mode=ro", uri=True) as db:
            (watcher,) = db.execute("SELECT watcher_mode FROM health").fetchone()
        return ServiceMemory(most, at_rest, watcher)
    finally:
        up.send_signal(signal.SIGTERM)
        up.wait()


def is_quiet(catalog: Path, since: str = "") -> bool:
    """Return whether the service has scanned all roots since a time, and has nothing left to do."""
    try:
        with sqlite3.connect(f"file:{catalog}?mode=ro", uri=True) as db:
            return bool(
                db.execute(
                    "SELECT quiet_since IS NOT NULL AND ifnull(last_full_scan, '') > ? FROM health",
                    [since],
                ).fetchone()[0]
            )
    except sqlite3.OperationalError:
        return False


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    """Wait until something is true. Raises SystemExit."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SystemExit("The service or the site was not ready in time.")
        time.sleep(0.1)
