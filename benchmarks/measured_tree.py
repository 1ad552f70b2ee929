"""One tree of made skills, and the rows of results that scans and commands on it give."""

import json
import os
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from subprocess import DEVNULL, PIPE
from typing import NamedTuple

from commits import failure
from real_sized_skills import sentences
from running_programs import service_memory
from timing import seconds_of

from catalog.database import connection as database_connection
from catalog.filesystem.operations import directory, remove
from catalog.reading.search import word_search
from pipeline.config import loader
from pipeline.config.settings import Settings
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import Result, scan_once
from pipeline.service.scanning.change_batches import ScanPlan
from pipeline.service.scanning.engines import Engine, processes, serial
from pipeline.service.scanning.synchronizer import Synchronizer
from pipeline.watch.settling import WatchUnit

PEERS = Path(__file__).with_name("peers.py")
HASHING = "find | sha256sum"
ASKED = 200
"""Searches, no two for the same words; the words are those of real skills."""
MOST_FOR_PEERS = 10_000
"""Skills up to which other programs and the latency are measured, and the folders of all scans fit
on a disk."""
FEW = 2
"""Pairs of deep re-scans, each of which takes minutes at 100,000 skills."""


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


class Tree:
    """One tree of skills with its floors and its catalogs.

    A task and its floor are measured in alternating pairs.
    """

    def __init__(self, watched: Path, place: Path, size: int, repeat: int, kind: str = "") -> None:
        self.watched, self.place, self.size, self.repeat = watched, place, size, repeat
        self.kind = kind  # end of the names of its rows
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
        report(f"{self.size:,}: scans of unchanged folders")
        self._cold(self.in_place)
        _scan(self.in_place)  # the first comparison stores the stats of all folders
        listing = "find -printf"
        yield self._row("unchanged re-scan", lambda: _scan(self.in_place), self.list_all, listing)
        yield self._in_service(listing)
        scan = partial(subprocess.run, [*self.command, "scan"], check=True, stdout=DEVNULL)
        scan()  # the first one publishes copies, which a catalog in place does not have
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
        report(f"{self.size:,}: first scans")
        in_place, copied, copying, hashing, storing = [], [], [], [], []
        others: defaultdict[str, list[float]] = defaultdict(list)
        for _ in range(self.repeat):
            before = time.process_time()
            in_place.append(self._cold(self.in_place))
            storing.append((time.process_time() - before) / self.size)
            hashing.append(seconds_of(self.hash_all))
            for name, seconds in self._peers(peers).items():
                others[name].append(seconds)
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
        before = time.process_time()
        alone = self._cold(self.in_place, serial)
        used = (time.process_time() - before) / self.size
        yield self._times("cold scan, publish in-place, one process", [alone], HASHING, floor)
        yield self._times("cold scan, publish in-place, one process, CPU a skill", [used])
        yield self._times(
            "cold scan, publish in-place, CPU a skill of the storing process", storing
        )
        for name, times in others.items():
            yield self._times(name, times, "cold scan in-place", statistics.median(in_place))

    def _peers(self, peers: Path | None) -> dict[str, float]:
        if not peers:
            return {}
        command = [peers, PEERS, self.watched]
        done = subprocess.run(command, capture_output=True, check=True, text=True)
        return dict(json.loads(done.stdout))

    def one_change(self) -> Iterator[Row]:
        """Time one edit up to the written index file."""
        report(f"{self.size:,}: one change")
        changed = next(self.watched.rglob("SKILL.md"))
        folder = changed.parent
        hashing = _shell(f"find {folder} -type f -print0 | xargs -0 sha256sum > /dev/null")
        floor = statistics.median(seconds_of(hashing) for _ in range(self.repeat))
        store = open_store(self.base)
        unit = WatchUnit(str(self.watched), str(folder.relative_to(self.watched)))

        def change() -> None:
            base, roots = self.base, self.base.root_specs
            plan = ScanPlan(
                store=store, roots=roots, limits=base.limits, quiet=0.0, trigger="event"
            )
            list(Synchronizer(plan).run([unit]))
            store.publish_indexes(base.indexes, base.index_folder, datetime.now(UTC))

        times, cpu = [], []
        for number in range(self.repeat + 1):
            text = changed.read_text("utf-8")
            text = text.replace("description: ", f"description: Now {number}. ")
            changed.write_text(text, "utf-8")
            before = time.process_time()
            times.append(seconds_of(change))
            cpu.append(time.process_time() - before)
        # The first one fills caches, as the first of a service does.
        name = "one change → package and index"
        yield self._times(name, times[1:], "sha256sum of its folder", floor)
        yield self._times("one change, CPU", cpu[1:])
        publish = partial(
            store.publish_indexes, self.base.indexes, self.base.index_folder, datetime.now(UTC)
        )
        again = [seconds_of(publish) for _ in range(self.repeat)]
        yield self._times("index rebuild, nothing new", again)
        store.close()
        db = database_connection.open_catalog(self.base.catalog_path)
        for form, words in (("a sentence", 12), ("three words", 3)):
            queries = list(sentences(ASKED, words))
            before = time.process_time()
            times = [
                seconds_of(lambda text=query: word_search.search(db, text)) for query in queries
            ]
            used = (time.process_time() - before) / ASKED
            yield from cuts(f"search, {form} never asked before{self.kind}", self.size, times, used)

    def starts(self) -> Iterator[Row]:
        """Measure the processor time of short commands."""
        report(f"{self.size:,}: starts")
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
        """Measure the memory of a service without a catalog, and of one that starts again."""
        report(f"{self.size:,}: memory")
        self._clear(self.in_place.data)
        for start in ("", ", started again"):
            memory = service_memory(self.in_place)
            how = start if memory.watcher == "native" else f"{start}, {memory.watcher}"
            yield self._times(f"memory of the service{how}, most, MB", [memory.most])
            yield self._times(f"memory of the service{how}, at rest, MB", [memory.at_rest])

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
        return Row(f"{work}{self.kind}", self.size, statistics.median(times), beside, floor)

    def _cold(self, settings: Settings, engine: Engine = processes) -> float:
        self._clear(settings.data)
        return seconds_of(lambda: _scan(settings, engine))

    def _copy(self) -> float:
        copy = self.place / "copy"
        self._clear(copy)
        return seconds_of(lambda: subprocess.run(["cp", "-r", self.watched, copy], check=True))

    def _clear(self, folder: Path) -> None:
        """Make room for a folder; ten folders of 100,000 skills would not fit on most disks."""
        if self.size <= MOST_FOR_PEERS:
            _put_aside(folder)
        else:
            with directory(folder.parent) as parent:
                remove(folder.name, parent)
        os.sync()


def _put_aside(folder: Path) -> None:
    """Move a folder out of the way. Deleting it would slow down ext4 for half a minute."""
    if folder.exists():
        folder.rename(tempfile.mkdtemp(prefix="aside-", dir=folder.parent))


def _shell(command: str) -> Callable[[], object]:
    return partial(subprocess.run, command, shell=True, check=True)


def _processor_time(command: Sequence[str]) -> float:
    """Return the seconds of processor time of a command and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=DEVNULL, stderr=PIPE, text=True, check=False)
    if reason := failure(done.returncode, done.stderr):
        raise SystemExit(f"{' '.join(command)} failed: {reason}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _scan(settings: Settings, engine: Engine = processes, *, deep: bool = False) -> Result:
    store = open_store(settings)
    try:
        return scan_once(settings, store, engine=engine, deep=deep)
    finally:
        store.close()


def cuts(work: str, skills: int, times: Sequence[float], cpu: float) -> Iterator[Row]:
    """Yield rows of the median and high percentiles of many times, and of the CPU of one."""
    ordered = statistics.quantiles(times, n=100, method="inclusive")
    for name, seconds in (
        ("median", ordered[49]),
        ("95th percentile", ordered[94]),
        ("99th percentile", ordered[98]),
        ("CPU each", cpu),
    ):
        yield Row(f"{work}, {name}", skills, seconds)


def _seconds_text(number: float) -> str:
    return f"{number:.4f}" if number < 0.1 else f"{number:.2f}"


def report(work: str) -> None:
    """Print the work that begins."""
    print(f"{work} …", file=sys.stderr, flush=True)
