"""Times of all main tasks on one tree of skills, with floors and peers from the same run.

Prints one table; --save also writes it to benchmarks/results.md, with the machine. The folders are
in the page cache, and pending writes are flushed before each measurement.
"""

import argparse
import json
import os
import platform
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from made_skills import make_skills
from running_programs import peak_memory, put_aside, site
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
    rows = [
        row
        for size in arguments.skills
        for row in _measured(size, arguments.seed, arguments.repeat, peers)
    ]
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
        yield from tree.ingestion()
        yield from tree.one_change()
        yield from tree.requests()
        yield from tree.memory()
        if peers:
            yield from tree.peers(peers)
        subprocess.run(["chmod", "-R", "u+w", place], check=True)  # packages are read-only


class _Tree:
    """One tree of skills with its floors and its catalogs."""

    def __init__(self, watched: Path, place: Path, size: int, repeat: int) -> None:
        self.watched, self.place, self.size, self.repeat = watched, place, size, repeat
        self.base = loader.load(None, watched, place / "data").model_copy(
            update={"settle_quiet": 0.0}
        )
        self.in_place = self.base.model_copy(
            update={"data": place / "in-place", "publish": "in-place"}
        )
        self.hash_all = f"find {watched} -type f -print0 | xargs -0 sha256sum > /dev/null"
        self.stat_all = f"find {watched} -type f -printf '%p %s %T@\\n' > /dev/null"

    def ingestion(self) -> Iterator[Row]:
        """Time full scans, compared with reading, listing and copying the tree."""
        _report(f"{self.size:,}: full scans")
        hashing, listing = self._floor(self.hash_all), self._floor(self.stat_all)
        cold = self._cold(self.in_place, processes)
        yield Row("cold scan, publish in-place", self.size, cold, "find | sha256sum", hashing)
        yield Row(
            "cold scan, publish in-place, one process",
            self.size,
            self._cold(self.in_place, serial),
            "find | sha256sum",
            hashing,
        )
        yield Row(
            "unchanged re-scan",
            self.size,
            self._median(lambda: _scan(self.in_place)),
            "find -printf",
            listing,
        )
        yield Row(
            "deep re-scan",
            self.size,
            seconds_of(lambda: _scan(self.in_place, deep=True)),
            "find | sha256sum",
            hashing,
        )
        copying = self._copying()
        yield Row(
            "cold scan, publish copy",
            self.size,
            self._cold(self.base, processes),
            "cold scan in-place + cp -r",
            cold + copying,
        )
        self.hashing = hashing

    def one_change(self) -> Iterator[Row]:
        """Time one edit up to the written index file."""
        _report(f"{self.size:,}: one change")
        changed = next(self.watched.rglob("SKILL.md"))
        hashing = self._floor(self.hash_all.replace(str(self.watched), str(changed.parent)))
        store = open_store(self.base)
        unit = unit_at(self.base, changed.parent)
        assert unit
        times, cpu = [], []
        for number in range(5):
            text = changed.read_text("utf-8")
            text = text.replace("description: ", f"description: Now {number}. ")
            changed.write_text(text, "utf-8")
            before = time.process_time()
            times.append(seconds_of(lambda: scan_once(self.base, store, [unit])))
            cpu.append(time.process_time() - before)
        yield Row(
            "one change → package and index",
            self.size,
            statistics.median(times),
            "sha256sum of its folder",
            hashing,
        )
        yield Row("one change, CPU", self.size, statistics.median(cpu))
        yield Row(
            "index rebuild, nothing new",
            self.size,
            self._median(
                lambda: publish_indexes(
                    store, self.base.index_specs, self.base.index_folder, datetime.now(UTC)
                )
            ),
        )
        store.close()

    def requests(self) -> Iterator[Row]:
        """Time the search function, and pages of the site over HTTP."""
        _report(f"{self.size:,}: search and site")
        db = database_connection.open_catalog(self.base.catalog_path)
        times = [seconds_of(lambda word=word: search.search(db, word).hits) for word in WORDS * 20]
        yield Row("search", self.size, statistics.median(times))
        skill = quote(db.execute("SELECT skill_id FROM skills LIMIT 1").fetchone()[0])
        with site(self.base) as client:
            for name, path in {
                "home": "/",
                "table of skills": "/catalog/skills",
                "skill": f"/skills/{skill}",
                "search JSON": "/search.json?q=invoice",
                "index": "/index/default",
            }.items():
                yield Row(f"site: {name}", self.size, client(path, {}))
            tag = client.tag("/index/default")
            yield Row(
                "site: index, 304", self.size, client("/index/default", {"If-None-Match": tag})
            )

    def memory(self) -> Iterator[Row]:
        """Measure the peak memory of a service that starts on this tree and scans it."""
        _report(f"{self.size:,}: memory")
        yield Row("memory of the service, most, MB", self.size, peak_memory(self.in_place))

    def peers(self, python: Path) -> Iterator[Row]:
        """Time other programs on the same tree."""
        _report(f"{self.size:,}: peers")
        output = subprocess.run(
            [python, HERE / "peers.py", self.watched], capture_output=True, check=True, text=True
        ).stdout
        for name, seconds in json.loads(output).items():
            yield Row(name, self.size, seconds, "find | sha256sum", self.hashing)

    def _floor(self, command: str) -> float:
        return self._median(lambda: subprocess.run(command, shell=True, check=True))

    def _median(self, work: Callable[[], object]) -> float:
        return statistics.median(seconds_of(work) for _ in range(self.repeat))

    def _cold(self, settings: Settings, engine: Engine) -> float:
        def once() -> float:
            put_aside(settings.data)
            os.sync()
            return seconds_of(lambda: _scan(settings, engine))

        return statistics.median(once() for _ in range(self.repeat if self.size <= 10_000 else 1))

    def _copying(self) -> float:
        def once() -> float:
            put_aside(self.place / "copy")
            os.sync()
            return seconds_of(
                lambda: subprocess.run(["cp", "-r", self.watched, self.place / "copy"], check=True)
            )

        return statistics.median(once() for _ in range(self.repeat if self.size <= 10_000 else 1))


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
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of short work")
    parser.add_argument(
        "--no-peers", action="store_true", help="measure only skilldrop and the floors"
    )
    parser.add_argument("--save", action="store_true", help="write benchmarks/results.md")
    return parser.parse_args()


if __name__ == "__main__":
    main()
