"""Scan of generated skills on local Dask clusters of 1, 2 and 4 workers, beside the other engines.

Each scan fills a new catalog in place. All run after each other on one machine, so only their
ratios count. Workers on the cores of one machine share them with the process that stores.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from distributed import LocalCluster
from made_skills import make_skills

from pipeline.config import loader
from pipeline.sync.engines.dask_cluster import dask
from pipeline.sync.engines.processes import Engine, processes, serial
from pipeline.sync.open_catalog import open_store
from pipeline.sync.run_once import scan_once


def main() -> None:
    """Make the skills, scan them with each engine, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--skills", type=int, default=5_000)
    cores = len(os.sched_getaffinity(0))
    parser.add_argument(
        "--workers", type=int, nargs="*", default=[n for n in (1, 2, 4) if n <= cores]
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as name:
        root = Path(name, "watched")
        make_skills(root, options.skills)
        print(f"{options.skills:,} skills, {cores} cores\n")
        print("| engine | seconds | of one process | storing, CPU | skills before a second |")
        print("|---|---|---|---|---|")
        engines: list[tuple[str, Callable[[], AbstractContextManager[Engine]]]] = [
            ("one process", lambda: nullcontext(serial)),
            ("processes", lambda: nullcontext(processes)),
        ]
        alone = 0.0
        for label, engine in engines:
            with engine() as executor:
                seconds = _scan(root, Path(name, label), label, executor, alone)
            alone = alone or seconds
        for workers in options.workers:
            with (
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    silence_logs=50,
                ) as cluster,
                dask(cluster.scheduler_address) as executor,
            ):
                label = f"dask, {workers} workers"
                _scan(root, Path(name, label), label, executor, alone)


def _scan(root: Path, data: Path, label: str, engine: Engine, alone: float) -> float:
    """Scan into a new catalog, print a row, and return the seconds."""
    settings = loader.load(None, root, data)
    settings = settings.model_copy(update={"settle_quiet": 0, "publish": "in-place"})
    store = open_store(settings)
    began, used = time.perf_counter(), time.process_time()
    seen: list[tuple[float, int]] = []
    result = scan_once(
        settings,
        store,
        engine=engine,
        progress=lambda report: seen.append((time.perf_counter() - began, report.folders)),
    )
    seconds, used = time.perf_counter() - began, time.process_time() - used
    store.close()
    first = max((folders for at, folders in seen if at < 1), default=0)
    ratio = seconds / (alone or seconds)
    print(
        f"| {label} | {seconds:.1f} | {ratio:.2f} | {used:.1f} | {first:,} |",
        flush=True,
    )
    assert result.report.folders == result.active
    return seconds


if __name__ == "__main__":
    main()
