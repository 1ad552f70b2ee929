"""Times of all main tasks on one tree of skills, with floors and peers from the same run.

Prints one table; --save also writes it to benchmarks/results.md, with the machine. The folders are
in the page cache, and pending writes are flushed before each measurement.
"""

import argparse
import json
import os
import platform
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import venv
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from subprocess import DEVNULL
from typing import NamedTuple

import latency
import site_times
from made_skills import make_skills
from running_programs import peak_memory, put_aside
from timing import seconds_of

from catalog.database import connection as database_connection
from catalog.reading import search
from catalog.writing.index_publisher import publish_indexes
from pipeline.config import loader
from pipeline.config.settings import Settings
from pipeline.sync.engines.processes import Engine, processes, serial
from pipeline.sync.open_catalog import open_store
from pipeline.sync.run_once import Result, scan_once, unit_at

HERE = Path(__file__).parent
WORDS = ["invoice", "deploy cache", "rep", "报告", "query index"]
HASHING = "find | sha256sum"
MOST_FOR_PEERS = 10_000
"""Skills up to which other programs and the latency are measured."""
FEW = 2
"""Pairs of work that takes minutes at 100,000 skills."""
REQUESTS = 100
"""Requests of each kind to the site, and changes whose latency is measured."""
QUIET = 0.3
"""Seconds of settling while the latency is measured."""


class Row(NamedTuple):
    """One row of the table: a task, its time, and the floor."""

    work: str
    skills: int
    seconds: float
    beside: str = ""
    floor: float | None = None  # seconds

    def cells(self) -> Sequence[str]:
        """Return the cells as text."""
        ratio = f"{self.seconds / self.floor:.2f}" if self.floor else ""
        return (
            self.work,
            f"{self.skills:,}",
            _seconds_text(self.seconds),
            self.beside.replace("|", r"\|"),
            _seconds_text(self.floor) if self.floor else "",
            ratio,
        )


def main() -> None:
    """Measure at each size, and print the table."""
    arguments = _arguments()
    peers = None if arguments.no_peers else _peers()
    rows = []
    for size in arguments.skills:
        for row in _measured(size, arguments.seed, arguments.repeat, peers):
            _report(" | ".join(row.cells()))
            rows.append(row)
    text = _table(rows)
    print(text)
    if arguments.save:
        (HERE / "results.md").write_text(
            f"# Results\n\nWritten by `make bench`; each run replaces them.\n\n{text}\n", "utf-8"
        )


def _measured(size: int, seed: int, repeat: int, peers: Path | None) -> Iterator[Row]:
    with tempfile.TemporaryDirectory(
        prefix="skilldrop-bench-", ignore_cleanup_errors=True
    ) as place:
        watched = Path(place, "watched")
        _report(f"generating {size:,} skills of 5 files")
        make_skills(watched, size, seed)
        tree = _Tree(watched, Path(place), size, repeat)
        yield from tree.comparisons()
        yield from tree.cold_scans(peers if size <= MOST_FOR_PEERS else None)
        yield from tree.one_change()
        yield from tree.starts()
        yield from tree.memory()
        subprocess.run(["chmod", "-R", "u+w", place], check=True)  # packages are read-only
    yield from _site(size, seed)
    if size <= MOST_FOR_PEERS:
        yield from _latency(size)


class _Tree:
    """One tree of skills with its floors and its catalogs.

    A task and its floor are measured in alternating pairs.
    """

    def __init__(self, watched: Path, place: Path, size: int, repeat: int) -> None:
        self.watched, self.place, self.size, self.repeat = watched, place, size, repeat
        self.base = loader.load(None, watched, place / "data").model_copy(
            update={"settle_quiet": 0.0}
        )
        self.in_place = self.base.model_copy(
            update={"data": place / "in-place", "publish": "in-place"}
        )
        self.hash_all = _shell(f"find {watched} -type f -print0 | xargs -0 sha256sum > /dev/null")
        self.list_all = _shell(f"find {watched} -type f -printf '%p %s %T@\\n' > /dev/null")
        self.command = [
            str(Path(sys.executable).with_name("skilldrop")),
            *("--watched", str(watched), "--data", str(self.in_place.data)),
        ]

    def comparisons(self) -> Iterator[Row]:
        """Time scans of a catalog that is up to date."""
        _report(f"{self.size:,}: scans of unchanged folders")
        self._cold(self.in_place)
        _scan(self.in_place)  # the first comparison stores the stats of all folders
        listing = "find -printf"
        yield self._row("unchanged re-scan", lambda: _scan(self.in_place), self.list_all, listing)
        yield self._in_service(listing)
        scan = partial(subprocess.run, [*self.command, "scan"], check=True, stdout=DEVNULL)
        yield self._row("`skilldrop scan`, nothing new", scan, self.list_all, listing)
        deep = partial(_scan, self.in_place, deep=True)
        yield self._row("deep re-scan", deep, self.hash_all, HASHING, FEW)

    def _in_service(self, listing: str) -> Row:
        """Time a re-scan with the catalog open, in a process that has threads, like the service."""
        store, ended = open_store(self.in_place), threading.Event()
        threading.Thread(target=ended.wait).start()
        try:
            again = partial(scan_once, self.in_place, store)
            return self._row("unchanged re-scan in the service", again, self.list_all, listing)
        finally:
            ended.set()
            store.close()

    def cold_scans(self, peers: Path | None) -> Iterator[Row]:
        """Time first scans, compared with reading and copying the tree, and other programs."""
        _report(f"{self.size:,}: first scans")
        in_place, copied, copying, hashing = [], [], [], []
        for _ in range(self.repeat if self.size <= MOST_FOR_PEERS else FEW):
            in_place.append(self._cold(self.in_place))
            hashing.append(seconds_of(self.hash_all))
            copied.append(self._cold(self.base))
            copying.append(self._copy())
        floor = statistics.median(hashing)
        yield self._times("cold scan, publish in-place", in_place, HASHING, floor)
        yield self._times(
            "cold scan, publish copy",
            copied,
            "cold scan in-place + cp -r",
            statistics.median(map(sum, zip(in_place, copying, strict=True))),
        )
        alone = self._cold(self.in_place, serial)
        yield self._times("cold scan, publish in-place, one process", [alone], HASHING, floor)
        if peers:
            _report(f"{self.size:,}: peers")
            output = subprocess.run(
                [peers, HERE / "peers.py", self.watched], capture_output=True, check=True, text=True
            ).stdout
            for name, seconds in json.loads(output).items():
                yield self._times(
                    name, [seconds], "cold scan in-place", statistics.median(in_place)
                )

    def one_change(self) -> Iterator[Row]:
        """Time one edit up to the written index file."""
        _report(f"{self.size:,}: one change")
        changed = next(self.watched.rglob("SKILL.md"))
        folder = changed.parent
        hashing = _shell(f"find {folder} -type f -print0 | xargs -0 sha256sum > /dev/null")
        floor = statistics.median(seconds_of(hashing) for _ in range(self.repeat))
        store = open_store(self.base)
        unit = unit_at(self.base, folder)
        assert unit
        times, cpu = [], []
        for number in range(self.repeat):
            text = changed.read_text("utf-8")
            text = text.replace("description: ", f"description: Now {number}. ")
            changed.write_text(text, "utf-8")
            before = time.process_time()
            times.append(seconds_of(lambda: scan_once(self.base, store, [unit])))
            cpu.append(time.process_time() - before)
        yield self._times("one change → package and index", times, "sha256sum of its folder", floor)
        yield self._times("one change, CPU", cpu)
        publish = partial(
            publish_indexes, store, self.base.index_specs, self.base.index_folder, datetime.now(UTC)
        )
        again = [seconds_of(publish) for _ in range(self.repeat)]
        yield self._times("index rebuild, nothing new", again)
        store.close()
        db = database_connection.open_catalog(self.base.catalog_path)
        searches = [
            seconds_of(lambda word=word: search.search(db, word).hits) for word in WORDS * 20
        ]
        yield self._times("search", searches)

    def starts(self) -> Iterator[Row]:
        """Measure the processor time of short commands."""
        _report(f"{self.size:,}: starts")
        with sqlite3.connect(self.in_place.catalog_path) as db:
            (skill,) = db.execute("SELECT skill_id FROM skills LIMIT 1").fetchone()
        one = next(self.watched.rglob("SKILL.md")).parent
        program, *options = self.command
        for words in (
            ["--help"],
            [*options, "search", "invoice"],
            [*options, "read", skill],
            [*options, "status"],
            ["validate", str(one)],
        ):
            used = [_processor_time([program, *words]) for _ in range(self.repeat)]
            name = next(word for word in words if word not in options)
            yield self._times(f"start of `{name}`, CPU", used)

    def memory(self) -> Iterator[Row]:
        """Measure the peak memory of a service that starts on this tree and scans it."""
        _report(f"{self.size:,}: memory")
        yield Row("memory of the service, most, MB", self.size, peak_memory(self.in_place))

    def _row(
        self,
        work: str,
        task: Callable[[], object],
        floor: Callable[[], object],
        beside: str,
        repeat: int | None = None,
    ) -> Row:
        pairs = [(seconds_of(floor), seconds_of(task)) for _ in range(repeat or self.repeat)]
        floors, times = zip(*pairs, strict=True)
        return self._times(work, times, beside, statistics.median(floors))

    def _times(
        self, work: str, times: Sequence[float], beside: str = "", floor: float | None = None
    ) -> Row:
        return Row(work, self.size, statistics.median(times), beside, floor)

    def _cold(self, settings: Settings, engine: Engine = processes) -> float:
        put_aside(settings.data)
        os.sync()
        return seconds_of(lambda: _scan(settings, engine))

    def _copy(self) -> float:
        copy = self.place / "copy"
        put_aside(copy)
        os.sync()
        return seconds_of(lambda: subprocess.run(["cp", "-r", self.watched, copy], check=True))


def _site(size: int, seed: int) -> Iterator[Row]:
    """Time requests to the site, and the same while a scan stores changes of all skills."""
    _report(f"{size:,}: site")
    times = site_times.measured(size, seed, REQUESTS)
    for name, idle in times.idle.items():
        yield Row(f"site: {name}", size, statistics.median(idle) / 1000)
    for name in ("home", "table", "table, made anew", "search JSON"):
        busy = statistics.median(times.busy[name]) / 1000
        yield Row(f"site during a scan: {name}", size, busy)


def _latency(size: int) -> Iterator[Row]:
    """Measure the time from a last write to the index file, without settling."""
    _report(f"{size:,}: latency")
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as folder:
        times = latency.measure(Path(folder), size, REQUESTS, QUIET)
    cuts = statistics.quantiles([seconds - QUIET for seconds in times], n=100, method="inclusive")
    yield Row("last write → index, median", size, cuts[49])
    yield Row("last write → index, 99th percentile", size, cuts[98])


def _shell(command: str) -> Callable[[], object]:
    return partial(subprocess.run, command, shell=True, check=True)


def _processor_time(command: Sequence[str]) -> float:
    """Return the seconds of processor time of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=DEVNULL, stderr=DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _scan(settings: Settings, engine: Engine = processes, *, deep: bool = False) -> Result:
    store = open_store(settings)
    try:
        return scan_once(settings, store, engine=engine, deep=deep)
    finally:
        store.close()


def _peers() -> Path:
    """Return the Python of an environment with the peers, created once."""
    folder = HERE / ".peers"
    python = folder / "bin" / "python"
    if not python.exists():
        _report("installing the peers")
        venv.create(folder, with_pip=True)
        subprocess.run(
            [python, "-m", "pip", "install", "--quiet", "skills-ref", "skillport"], check=True
        )
    return python


def _table(rows: Sequence[Row]) -> str:
    machine = (
        f"{platform.machine()}, {os.cpu_count()} cores ({_processor()}), "
        f"{platform.system()} {platform.release()}, Python {platform.python_version()}, "
        f"SQLite {sqlite3.sqlite_version}, {datetime.now(UTC):%Y-%m-%d}."
    )
    head = ["| work | skills | seconds | beside | seconds | ratio |", "|---|---|---|---|---|---|"]
    return "\n".join([machine, "", *head, *(f"| {' | '.join(row.cells())} |" for row in rows)])


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor()


def _seconds_text(number: float) -> str:
    return f"{number:.4f}" if number < 0.1 else f"{number:.2f}"


def _report(work: str) -> None:
    print(f"{work} …", file=sys.stderr, flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skills", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=5, help="pairs of measurements")
    parser.add_argument(
        "--no-peers", action="store_true", help="measure only skilldrop and the floors"
    )
    parser.add_argument("--save", action="store_true", help="write benchmarks/results.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
