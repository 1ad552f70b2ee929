"""Requests a second from several processes of the site behind nginx, with and without its cache.

wrk asks over 16 connections. The floor is nginx with the same bytes from a file. Needs nginx and
wrk; prints one table.
"""

import argparse
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from made_skills import make_skills

sys.path.insert(0, str(Path(__file__).parents[1]))

from catalog.site.server.process import SiteProcess
from pipeline.config import loader
from pipeline.sync.open_catalog import open_store
from pipeline.sync.run_once import scan_once
from tests.support.nginx import HOST, nginx

PATHS = {
    "index": "index/default",
    "search": "search.json?q=deploy+cache",
    "file": "skills/{skill}/files/SKILL.md",
    "page": "skills/{skill}",
}


class Load(NamedTuple):
    """Result of wrk."""

    requests: float  # a second
    p50: str
    p99: str


def ports(count: int) -> list[int]:
    """Return free ports."""
    with ExitStack() as stack:
        opened = [stack.enter_context(socket.create_server((HOST, 0))) for _ in range(count)]
        return [server.getsockname()[1] for server in opened]


def load(url: str, seconds: int) -> Load:
    """Ask for a URL as often as possible. Raises SystemExit for other answers than 200."""
    done = subprocess.run(
        [
            "wrk",
            "--threads",
            "1",
            "--connections",
            "16",
            "--duration",
            f"{seconds}s",
            "--latency",
            url,
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    if "Non-2xx" in done.stdout:
        raise SystemExit(f"{url}:\n{done.stdout}")
    found = dict(re.findall(r"(\d\d%)\s+(\S+)", done.stdout))
    requests = re.search(r"Requests/sec:\s+([\d.]+)", done.stdout)
    assert requests, done.stdout
    return Load(float(requests[1]), found["50%"], found["99%"])


def _wait_for(url: str) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(url):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"{url} does not answer.")


def main() -> None:
    """Make the catalog, serve it by 1, 2 and 4 processes, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2, 4])
    parser.add_argument("--seconds", type=int, default=5)
    options = parser.parse_args()
    for program in ("nginx", "wrk"):
        if not shutil.which(program):
            raise SystemExit(f"{program} is not installed.")
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as place:
        make_skills(Path(place, "watched"), options.skills)
        settings = loader.load(None, Path(place, "watched"), Path(place, "data"))
        settings = settings.model_copy(update={"settle_quiet": 0})
        store = open_store(settings)
        scan_once(settings, store)
        (skill,) = store.db.execute("SELECT skill_id FROM skills LIMIT 1").fetchone()
        store.close()
        print(f"{options.skills:,} skills, wrk with 16 connections for {options.seconds} s each\n")
        print("| asked for | processes | cache | requests a second | median | p99 | of the floor |")
        print("|---|---|---|---|---|---|---|", flush=True)
        for processes in options.processes:
            with ExitStack() as stack:
                sites = ports(processes + 2)
                for port in sites[2:]:
                    site = SiteProcess(
                        settings.catalog_path, HOST, port, Path(place, f"{port}.log")
                    )
                    site.start()
                    stack.callback(site.stop)
                    _wait_for(f"http://{HOST}:{port}/-/healthz")
                for listen, cached in ((sites[0], False), (sites[1], True)):
                    folder = Path(place, f"nginx-{listen}")
                    (folder / "static").mkdir(parents=True)
                    (folder / "static" / "floor").touch()
                    with nginx(folder, listen, sites[2:], cached=cached):
                        _measure(folder, listen, skill, processes, cached, options.seconds)


def _measure(
    folder: Path, listen: int, skill: str, processes: int, cached: bool, seconds: int
) -> None:
    for name, pattern in PATHS.items():
        url = f"http://{HOST}:{listen}/{pattern.format(skill=skill)}"
        with urllib.request.urlopen(url) as response:
            (folder / "static" / "floor").write_bytes(response.read())
        floor = load(f"http://{HOST}:{listen}/static/floor", 1)
        result = load(url, seconds)
        print(
            f"| {name} | {processes} | {'yes' if cached else ''} | {result.requests:,.0f} "
            f"| {result.p50} | {result.p99} | {result.requests / floor.requests:.3f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
