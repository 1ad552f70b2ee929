"""Times of all main tasks on one tree of skills, with floors and peers from the same run.

Prints one table; --save replaces benchmarks/results.md, with the machine and how it was measured.
The folders are in the page cache, and pending writes are flushed before each measurement.
"""

import argparse
import os
import platform
import shlex
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import latency
import site_times
from made_skills import directories, make_skills
from measured_tree import FEW, MOST_FOR_PEERS, Row, Tree, cuts, report
from peer_environment import peer_environment
from real_sized_skills import make_real_sized_skills

HERE = Path(__file__).parent
PEERS = ("skills-ref", "skillport")
Make = Callable[[Path, int, int], None]  # skills below a root, from their number and a seed
REAL_SIZED = ", real-sized"
KINDS: dict[str, Make] = {"": make_skills, REAL_SIZED: make_real_sized_skills}
"""Kinds of skills by the end of the names of their rows; real-sized up to MOST_FOR_PEERS."""
REQUESTS = 100
"""Requests of each kind to the site, and changes whose latency is measured."""
QUIET = 0.3
"""Seconds of settling while the latency is measured."""
ABOUT = """\
Written by `benchmarks/overview.py {options}` in one run, with its
folders on {filesystem}; `make bench-large` replaces it. Scans are medians of {repeat} alternating
pairs with their floors and other programs. Deep re-scans have {few} pairs; scans with one process
and the memory were measured once. Changes, rebuilds of the index and starts of commands ran
{repeat} times, requests to the site and writes up to the index {requests} times. Searches and
pages that were "never asked before" or "different" are not repeated; their words are as frequent
as in real skills. Made skills have 4 KB beside SKILL.md, real-sized ones 21 KB.

A shared machine changes its speed by half within minutes. So a ratio of two programs in one row
says more than seconds of two rows, and a row that ran once says little: in four runs on such a
machine, the reference library, whose code is the same, took 12.7, 20.1, 14.0 and 13.2 s for 10,000
skills.

The service {watching}. The {directories} directories of {most} skills need
as many watches (`sysctl fs.inotify.max_user_watches`).

The start of a command includes its work: that of `search` includes a search.
"""


def main() -> None:
    """Measure at each size, and print the table."""
    arguments = _arguments()
    peers = None if arguments.no_peers else peer_environment("validators", PEERS)
    rows = []
    for size in arguments.skills:
        for row in _measured(size, arguments.seed, arguments.repeat, peers):
            report(" | ".join(row.cells()))
            rows.append(row)
    text = _table(_side_by_side(rows))
    print(text)
    if arguments.save:
        about = _about(rows, arguments.repeat)
        (HERE / "results.md").write_text(f"# Results\n\n{about}\n{text}\n", "utf-8")


def _measured(size: int, seed: int, repeat: int, peers: Path | None) -> Iterator[Row]:
    for kind, make in KINDS.items():
        if size <= MOST_FOR_PEERS or not kind:
            yield from _of_kind(kind, make, size, seed, repeat, peers)
    yield from _site(size, seed)


def _of_kind(
    kind: str, make: Make, size: int, seed: int, repeat: int, peers: Path | None
) -> Iterator[Row]:
    """Measure on one tree of skills."""
    with tempfile.TemporaryDirectory(
        prefix="skilldrop-bench-", ignore_cleanup_errors=True
    ) as place:
        watched = Path(place, "watched")
        report(f"generating {size:,} skills{kind}")
        make(watched, size, seed)
        tree = Tree(watched, Path(place), size, repeat, kind)
        yield from tree.comparisons()
        yield from tree.cold_scans(peers if size <= MOST_FOR_PEERS else None)
        yield from tree.one_change()
        yield from tree.starts()
        yield from tree.memory()
        subprocess.run(["chmod", "-R", "u+w", place], check=True)  # packages are read-only
    report(f"{size:,}: requests that were never made before")
    for name, times, used in site_times.asked_once(make, size, seed):
        yield from cuts(f"site: different {name}, 8 connections{kind}", size, times, used)
    if size <= MOST_FOR_PEERS:
        yield from _latency(size, kind, make)


def _site(size: int, seed: int) -> Iterator[Row]:
    """Time requests to the site, and the same while a scan stores changes of all skills."""
    report(f"{size:,}: site")
    times = site_times.measured(size, seed, REQUESTS)
    for name, idle in times.idle.items():
        yield Row(f"site: {name}", size, statistics.median(idle) / 1000)
    if not times.is_scanning:  # it ended before the last request
        return
    for name in ("home", "table", "table, not kept", "search JSON"):
        busy = statistics.median(times.busy[name]) / 1000
        yield Row(f"site during a scan: {name}", size, busy)


def _latency(size: int, kind: str, make: Make) -> Iterator[Row]:
    """Measure the time from a last write to the index file, without settling."""
    report(f"{size:,}: latency{kind}")
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as folder:
        times = latency.measure(Path(folder), size, REQUESTS, QUIET, make)
    above = [seconds - QUIET for seconds in times]
    percents = statistics.quantiles(above, n=100, method="inclusive")
    yield Row(f"last write → index, median{kind}", size, percents[49])
    yield Row(f"last write → index, 99th percentile{kind}", size, percents[98])


def _side_by_side(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with those of real-sized skills after those of made ones."""
    works = list(dict.fromkeys(row.work.replace(REAL_SIZED, "") for row in rows))
    return sorted(rows, key=lambda row: (row.skills, works.index(row.work.replace(REAL_SIZED, ""))))


def _table(rows: Sequence[Row]) -> str:
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores ({_processor()}), "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}, {datetime.now(UTC):%Y-%m-%d}."
    )
    head = ["| work | skills | seconds | beside | seconds | ratio |", "|---|---|---|---|---|---|"]
    return "\n".join([machine, "", *head, *(f"| {' | '.join(row.cells())} |" for row in rows)])


def _about(rows: Sequence[Row], repeat: int) -> str:
    """Return how the rows were measured, and how far they can be believed."""
    most = max(row.skills for row in rows)
    polled = dict.fromkeys(f"{row.skills:,}" for row in rows if "polling, at rest" in row.work)
    return ABOUT.format(
        options=shlex.join(sys.argv[1:]),
        filesystem=_filesystem(),
        repeat=repeat,
        few=FEW,
        requests=REQUESTS,
        watching=f"polled the roots of {' and '.join(polled)} skills"
        if polled
        else "watched all directories",
        directories=f"{directories(most):,}",
        most=f"{most:,}",
    )


def _filesystem() -> str:
    """Return the type of the filesystem of temporary folders."""
    command = ["df", "--output=fstype", tempfile.gettempdir()]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.split()[-1]


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skills", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=5, help="pairs of measurements")
    parser.add_argument(
        "--no-peers", action="store_true", help="measure only skilldrop and the floors"
    )
    parser.add_argument("--save", action="store_true", help="replace benchmarks/results.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
