"""Requests a second from several processes of the site behind nginx, with and without its cache.

wrk asks over 16 connections. The floor is nginx with the same bytes from a file. All is measured in
rounds, and the table has the medians. Needs nginx and wrk, which run on the same cores as the site.
"""

import argparse
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from made_skills import make_skills
from stopping import end_by_signals

sys.path.insert(0, str(Path(__file__).parents[1]))

from catalog.site.server.process import SiteProcess
from pipeline.config import loader
from pipeline.config.settings import Settings
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
from tests.support.nginx import HOST, nginx

PATHS = {
    "index": "index/default",
    "search": "search.json?q=deploy+cache",
    "file": "skills/{skill}/files/SKILL.md",
    "page": "skills/{skill}",
}
MILLISECONDS = {"us": 0.001, "ms": 1, "s": 1000}


class Front(NamedTuple):
    """An nginx before some processes of the site."""

    processes: int
    cached: bool
    url: str
    files: Path  # folder that it serves at static/


class Load(NamedTuple):
    """Result of wrk."""

    requests: float  # a second
    p50: float  # milliseconds
    p99: float
    of_floor: float = 1


def main() -> None:
    """Make the catalog, serve it by 1, 2 and 4 processes, and print the table."""
    options = _arguments()
    for program in ("nginx", "wrk"):
        if not shutil.which(program):
            raise SystemExit(f"{program} is not installed; on Debian: apt install {program}")
    end_by_signals()
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as place, ExitStack() as stack:
        settings, skill = _catalog(Path(place), options.skills)
        fronts = list(_fronts(stack, settings, Path(place), options.processes))
        loads: dict[tuple[str, Front], list[Load]] = {}
        for number in range(options.rounds):
            print(f"round {number + 1} of {options.rounds} …", file=sys.stderr, flush=True)
            for name, pattern in PATHS.items():
                path = pattern.format(skill=skill)
                for front, load in _round(fronts, path, options.seconds):
                    loads.setdefault((name, front), []).append(load)
    print(
        f"{options.skills:,} skills, wrk with 16 connections on the same {os.cpu_count()} cores; "
        f"medians of {options.rounds} rounds of {options.seconds} s for each row\n"
    )
    print("| asked for | processes | cache | requests a second | median | p99 | of the floor |")
    print("|---|---|---|---|---|---|---|")
    for front in fronts:
        for name in PATHS:
            print(_line(name, front, loads[name, front]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=3, help="of each row in each round")
    return parser.parse_args()


def _catalog(place: Path, skills: int) -> tuple[Settings, str]:
    """Scan made skills; return the settings and the id of one skill."""
    make_skills(place / "watched", skills)
    settings = loader.load(None, place / "watched", place / "data")
    settings = settings.model_copy(update={"settle_quiet": 0})
    store = open_store(settings)
    scan_once(settings, store)
    (skill,) = store.db.execute("SELECT skill_id FROM skills LIMIT 1").fetchone()
    store.close()
    return settings, skill


def _fronts(
    stack: ExitStack, settings: Settings, place: Path, counts: Sequence[int]
) -> Iterator[Front]:
    """Run the site and, before each number of its processes, nginx without and with its cache."""
    sites = _ports(max(counts))
    for port in sites:
        site = SiteProcess(settings.catalog_path, HOST, port, place / f"{port}.log")
        site.start()
        stack.callback(site.stop)
        _wait_for(f"http://{HOST}:{port}/-/healthz")
    for processes in counts:
        for cached, listen in zip((False, True), _ports(2), strict=True):
            folder = place / f"nginx-{listen}"
            (folder / "static").mkdir(parents=True)
            url = stack.enter_context(nginx(folder, listen, sites[:processes], cached=cached))
            yield Front(processes, cached, url, folder / "static")


def _ports(count: int) -> list[int]:
    """Return free ports."""
    with ExitStack() as stack:
        opened = [stack.enter_context(socket.create_server((HOST, 0))) for _ in range(count)]
        return [server.getsockname()[1] for server in opened]


def _wait_for(url: str) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(url):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"{url} does not answer.")


def _round(fronts: Sequence[Front], path: str, seconds: int) -> Iterator[tuple[Front, Load]]:
    """Measure the floor of a path, then the path at each front."""
    with urllib.request.urlopen(fronts[0].url + path) as response:
        (fronts[0].files / "floor").write_bytes(response.read())
    floor = _load(f"{fronts[0].url}static/floor", seconds)
    for front in fronts:
        # The same request as the measured one: nginx keeps a response for each Accept-Encoding.
        _load(front.url + path, 1)
        load = _load(front.url + path, seconds)
        yield front, load._replace(of_floor=load.requests / floor.requests)


def _load(url: str, seconds: int) -> Load:
    """Ask for a URL as often as possible. Raises SystemExit for other answers than 200."""
    command = ["wrk", "--threads", "1", "--connections", "16", "--duration", f"{seconds}s"]
    done = subprocess.run([*command, "--latency", url], capture_output=True, text=True, check=True)
    if "Non-2xx" in done.stdout:
        raise SystemExit(f"{url}:\n{done.stdout}")
    found = {
        percent: float(number) * MILLISECONDS[unit]
        for percent, number, unit in re.findall(r"(\d\d%)\s+([\d.]+)(us|ms|s)\n", done.stdout)
    }
    requests = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    assert requests, done.stdout
    return Load(float(requests[1]), found["50%"], found["99%"])


def _line(name: str, front: Front, loads: Sequence[Load]) -> str:
    """Return the row with the median of each column."""
    requests, p50, p99, of_floor = map(statistics.median, zip(*loads, strict=True))
    return (
        f"| {name} | {front.processes} | {'yes' if front.cached else ''} | {requests:,.0f} "
        f"| {_milliseconds(p50)} | {_milliseconds(p99)} | {of_floor:.3f} |"
    )


def _milliseconds(number: float) -> str:
    return f"{number:.2f} ms" if number < 10 else f"{number:.0f} ms"


if __name__ == "__main__":
    main()
