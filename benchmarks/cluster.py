"""Scan of generated skills on local Dask clusters of 1, 2 and 4 workers, beside the other engines.

    python benchmarks/cluster.py --skills 1000000 --sparse --alone processes --workers 2

Each scan fills a new catalog in place. All run after each other on one machine, so only their
ratios count. Workers on the cores of one machine share them with the process that stores.
With --sparse each skill is one small file.
"""

import argparse
import os
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from dask import config
from distributed import LocalCluster
from made_skills import make_skills, make_sparse_skills

from pipeline.config import loader
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.dask_cluster import dask
from pipeline.service.scanning.engines import Engine, processes, serial

_ALONE: Mapping[str, Engine] = {"one process": serial, "processes": processes}


def main() -> None:
    """Make the skills, scan them with each engine, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--skills", type=int, default=5_000)
    cores = len(os.sched_getaffinity(0))
    parser.add_argument(
        "--workers", type=int, nargs="*", default=[n for n in (1, 2, 4) if n <= cores]
    )
    parser.add_argument(
        "--alone", choices=_ALONE, nargs="*", default=list(_ALONE), help="engines beside Dask"
    )
    parser.add_argument("--sparse", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as name:
        root = Path(name, "watched")
        (make_sparse_skills if options.sparse else make_skills)(root, options.skills)
        print(f"{options.skills:,} skills, {cores} cores\n")
        print("| engine | seconds | of the first | storing, CPU | skills before a second |")
        print("|---|---|---|---|---|")
        first = 0.0
        for label in options.alone:
            seconds = _scan(root, Path(name, label), label, _ALONE[label], first)
            first = first or seconds
        for workers in options.workers:
            with (
                config.set({"temporary-directory": name}),
                LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address=None,
                    silence_logs=50,
                ) as cluster,
                dask(cluster.scheduler_address) as executor,
            ):
                label = f"dask, {workers} workers"
                seconds = _scan(root, Path(name, label), label, executor, first)
                first = first or seconds


def _scan(root: Path, data: Path, label: str, engine: Engine, first: float) -> float:
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
    at_once = max((folders for at, folders in seen if at < 1), default=0)
    ratio = seconds / (first or seconds)
    print(
        f"| {label} | {seconds:.1f} | {ratio:.2f} | {used:.1f} | {at_once:,} |",
        flush=True,
    )
    assert result.report.folders == result.counts["active"]
    return seconds


if __name__ == "__main__":
    main()
