"""Response times of the site, idle and during a scan: medians of many requests.

A separate process serves the catalog, as in production; the requests use one connection. For the
second column all skills are edited, and a scan stores them during the requests.
"""

import argparse
import http.client
import platform
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from made_skills import make_skills
from real_sized_skills import sentences
from running_programs import processor_time

from catalog.site.server.process import SiteProcess
from pipeline.config import loader
from pipeline.config import settings as config_settings
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once

HOST = "127.0.0.1"
TARGETS = {"home": 1.25, "search JSON": 2.5, "index, 304": 3.0, "table": 5.0}
"""Milliseconds when idle; twice that during a scan."""
NOT_KEPT = {"Authorization": "none"}
"""Headers with which the site keeps no page of a table."""


CONNECTIONS = 8
ASKED_ONCE = 500
"""Pages and searches of the site that nobody has asked for before."""


class SiteTimes(NamedTuple):
    """Milliseconds of the requests of each kind."""

    idle: dict[str, list[float]]
    busy: dict[str, list[float]]  # during a scan
    is_scanning: bool  # to the last request


def main() -> None:
    """Generate, scan and serve the skills, measure, and print the table."""
    arguments = _arguments()
    print(f"Generating and scanning {arguments.skills:,} skills …", flush=True)
    _print(measured(arguments.skills, arguments.seed, arguments.requests), arguments)


def measured(skills: int, seed: int, requests: int) -> SiteTimes:
    """Generate, scan and serve skills, and measure requests."""
    with _site(make_skills, skills, seed) as (settings, site, names):
        idle = _measure(site.port, names, requests)
        _edit(Path(settings.root_specs[0].path), skills)
        return SiteTimes(idle, *_while_scanning(settings, site.port, names, requests))


def asked_once(
    make: Callable[[Path, int, int], None], skills: int, seed: int
) -> Iterator[tuple[str, Sequence[float], float]]:
    """Yield the name, the seconds and the CPU of one of many pages, and of many searches.

    Each is asked for once, over several connections; a site has just been started.
    """
    with _site(make, skills, seed) as (_, site, names):
        pages = [f"/skills/{quote(name)}" for name in random.Random(7).sample(names, len(names))]
        searches = [f"/search.json?q={quote(text)}" for text in sentences(ASKED_ONCE, 12)]
        for name, paths in (("skill pages", pages[:ASKED_ONCE]), ("sentences", searches)):
            _wait(http.client.HTTPConnection(HOST, site.port, timeout=60))
            before = processor_time(site)
            with ThreadPoolExecutor(CONNECTIONS) as pool:
                parts = [paths[number::CONNECTIONS] for number in range(CONNECTIONS)]
                times = [
                    each
                    for part in pool.map(_asked, [site.port] * CONNECTIONS, parts)
                    for each in part
                ]
            yield name, times, (processor_time(site) - before) / len(paths)


def _asked(port: int, paths: Sequence[str]) -> list[float]:
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    times = []
    for path in paths:
        began = time.perf_counter()
        status, _ = _ask(connection, path)
        times.append(time.perf_counter() - began)
        assert status == 200, f"{path} returns {status}"
    return times


@contextmanager
def _site(
    make: Callable[[Path, int, int], None], skills: int, seed: int
) -> Iterator[tuple[config_settings.Settings, SiteProcess, list[str]]]:
    """Generate, scan and serve skills; yield the settings, the site and the ids of the skills."""
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as place:
        watched = Path(place, "watched")
        make(watched, skills, seed)
        settings = loader.load(None, watched, Path(place, "data")).model_copy(
            update={"settle_quiet": 0}
        )
        store = open_store(settings)
        scan_once(settings, store)
        names = [row[0] for row in store.db.execute("SELECT skill_id FROM skills")]
        store.close()
        with socket.create_server((HOST, 0)) as listener:
            port = listener.getsockname()[1]
        site = SiteProcess(settings.catalog_path, HOST, port, Path(place, "site.log"))
        site.start()
        try:
            yield settings, site, names
        finally:
            site.stop()


def _print(times: SiteTimes, arguments: argparse.Namespace) -> None:
    print(
        f"\n{platform.machine()}, Python {platform.python_version()}, {arguments.skills:,} "
        f"skills, {arguments.requests} requests each; milliseconds: median (95th percentile)\n"
    )
    print("| request | idle | target | during a scan | target | ratio |")
    print("|---|---|---|---|---|---|")
    for name, idle in times.idle.items():
        target = TARGETS.get(name)
        busy = times.busy[name]
        idle_median, busy_median = statistics.median(idle), statistics.median(busy)
        print(
            f"| {name} | {_cell(idle)} | {target or ''} | {_cell(busy)} "
            f"| {2 * target if target else ''} | {busy_median / idle_median:.1f} |"
        )
    if not times.is_scanning:
        print("\nThe scan ended before the last request: part of the second column is idle time.")


def _measure(port: int, names: list[str], requests: int) -> dict[str, list[float]]:
    connection = http.client.HTTPConnection(HOST, port, timeout=60)
    _wait(connection)
    etag = {"If-None-Match": _ask(connection, "/index/default")[1]}
    rng = random.Random(7)
    skills = [quote(rng.choice(names)) for _ in range(requests + 5)]
    words = ["invoice", "deploy cache", "rep", "报告", "query index"]
    requests_by_name = {
        "home": [("/", {})],
        "search JSON": [(f"/search.json?q={quote(word)}", {}) for word in words],
        "search page": [(f"/skills?q={quote(word)}", {}) for word in words],
        "table": [("/catalog/skills", {})],
        "table, not kept": [("/catalog/skills", NOT_KEPT)],
        "table, searched, JSON": [
            (f"/catalog/skills.json?_search={quote(word)}&_shape=array", {}) for word in words
        ],
        "list of skills": [("/skills", {})],
        "skill page": [(f"/skills/{skill}", {}) for skill in skills],
        "skill preview": [(f"/skills/{skill}/preview", {}) for skill in skills],
        "raw file": [(f"/skills/{skill}/files/scripts/run.py", {}) for skill in skills],
        "index": [("/index/default", {})],
        "index, 304": [("/index/default", etag)],
        "healthz": [("/-/healthz", {})],
    }
    return {name: _times(connection, ways, requests) for name, ways in requests_by_name.items()}


def _times(
    connection: http.client.HTTPConnection, ways: list[tuple[str, Mapping[str, str]]], requests: int
) -> list[float]:
    times = []
    for number in range(-5, requests):  # the first requests fill the caches
        path, headers = ways[number % len(ways)]
        began = time.perf_counter()
        status, _ = _ask(connection, path, headers)
        if number >= 0:
            times.append(1000 * (time.perf_counter() - began))
        assert status in (200, 304), f"{path} returns {status}"
    return times


def _ask(
    connection: http.client.HTTPConnection, path: str, headers: Mapping[str, str] | None = None
) -> tuple[int, str]:
    connection.request("GET", path, headers=dict(headers or {}))
    response = connection.getresponse()
    response.read()
    return response.status, response.headers.get("ETag", "")


def _wait(connection: http.client.HTTPConnection) -> None:
    for _ in range(200):
        try:
            _ask(connection, "/-/healthz")
            return
        except OSError:
            connection.close()
            time.sleep(0.1)
    raise SystemExit("The site does not respond.")


def _edit(watched: Path, count: int) -> None:
    for skill_md in sorted(watched.rglob("SKILL.md"))[:count]:
        with skill_md.open("a", encoding="utf-8") as file:
            file.write("\nOne line more.\n")


def _while_scanning(
    settings: config_settings.Settings, port: int, names: list[str], requests: int
) -> tuple[dict[str, list[float]], bool]:
    scan = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from pipeline.cli.entry import main; main()",
            "--watched",
            settings.root_specs[0].path,
            "--data",
            str(settings.data),
            "scan",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(1.5)  # for its start and its first comparison
        return _measure(port, names, requests), scan.poll() is None
    finally:
        scan.kill()
        scan.wait()


def _cell(times: list[float]) -> str:
    return f"{statistics.median(times):.1f} ({sorted(times)[int(0.95 * len(times))]:.1f})"


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--requests", type=int, default=100, help="requests of each kind")
    return parser.parse_args()


if __name__ == "__main__":
    main()
