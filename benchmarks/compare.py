"""Two commits, measured in alternating pairs: this tree and another commit.

Each pair runs both, in changing order, on trees of the same made skills, so that noise of the
machine falls on both. The table has the median ratio of the pairs with its 95 % confidence
interval. Its ends are two of the sorted ratios, with equal ranks from below and above, so the
median is not in its middle. A task is slower if the whole interval is above 1 and the median by
SMALLEST or more.
"""

import argparse
import itertools
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from commits import REPOSITORY, run, write_files
from made_skills import make_skills
from stopping import end_by_signals
from timing import seconds_of

SMALLEST = 0.03
"""Smallest change of the median that counts, as a part of it.

A commit against itself, with 20 skills and 9 pairs, had medians within 2.6 % in four runs on a
shared machine, except for one of 8 %. Of 47 rows, some beside other heavy work, two had an interval
without 1; one of them was larger than this.
"""
_PROGRAM = "from pipeline.cli.entry import main; main()"
_MAKE = "make bench-compare"


class Task(NamedTuple):
    """Command that is measured."""

    name: str
    words: tuple[str, ...]
    is_cold: bool = False  # without a catalog


TASKS = (
    Task("cold scan", ("scan",), is_cold=True),
    Task("unchanged scan", ("scan",)),
    Task("validate", ("validate", "--format", "json", "root")),
    Task("search", ("search", "deploy cache")),
    Task("status", ("status",)),
    Task("reconcile --check", ("reconcile", "--check")),
)


class Side(NamedTuple):
    """One of the two commits, with a catalog of its own."""

    name: str
    code: Path
    folder: Path

    def seconds(self, task: Task) -> float:
        """Return the seconds of a task. Raises SystemExit if the program fails."""
        data = self.folder / "data"
        if task.is_cold:
            shutil.rmtree(data, ignore_errors=True)
        options = ["--watched", str(self.folder / "root"), "--data", str(data)]
        command = [sys.executable, "-c", _PROGRAM, *options, *task.words]
        environment = os.environ | {
            "PYTHONPATH": str(self.code),
            "PYTHONDONTWRITEBYTECODE": "",  # only one side may have bytecode already
            "SKILLDROP_SETTLE_QUIET": "0",
        }
        return seconds_of(
            lambda: run(f"{self.name}: {task.name}", command, environment, self.folder)
        )


def rank(count: int) -> int:
    """Return which of the sorted values, from 0, begins the 95 % interval of the median.

    -1 if there are too few. The median is below the value of rank r with the chance of at most r
    heads in `count` throws of a coin, as in the sign test; above, it is the same.
    """
    heads = itertools.accumulate(math.comb(count, number) for number in range(count))
    return sum(2 * ways <= 0.05 * 2**count for ways in heads) - 1


FEWEST = next(count for count in itertools.count(1) if rank(count) >= 0)
"""Smallest number of pairs that has a 95 % interval."""


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of the median of FEWEST or more values."""
    ordered = sorted(ratios)
    below = rank(len(ordered))
    return ordered[below], ordered[-1 - below]


def verdict(ratios: Sequence[float]) -> str:
    """Return "slower", "faster", or "" for a change that is too small or may be noise."""
    low, high = interval(ratios)
    median = statistics.median(ratios)
    if low > 1 and median >= 1 + SMALLEST:
        return "slower"
    return "faster" if high < 1 and median <= 1 - SMALLEST else ""


def compare(new: Side, old: Side, pairs: int) -> list[str]:
    """Measure all tasks, print a row for each, and return those that became slower."""
    slower = []
    for task in TASKS:
        new.seconds(task), old.seconds(task)  # the first runs fill the caches
        times: dict[Side, list[float]] = {new: [], old: []}
        for pair in range(pairs):
            for side in (new, old) if pair % 2 else (old, new):
                times[side].append(side.seconds(task))
        ratios = [now / before for now, before in zip(times[new], times[old], strict=True)]
        low, high = interval(ratios)
        print(
            f"| {task.name} | {statistics.median(times[old]):.3f} "
            f"| {statistics.median(times[new]):.3f} | {statistics.median(ratios):.3f} "
            f"| {low:.3f} to {high:.3f} | {verdict(ratios)} |",
            flush=True,
        )
        if verdict(ratios) == "slower":
            slower.append(task.name)
    return slower


def _tree() -> str:
    git = ["git", "-C", REPOSITORY, "status", "--porcelain", "catalog", "pipeline"]
    changes = subprocess.run(git, capture_output=True, text=True, check=True).stdout
    return "this tree with its uncommitted changes" if changes else "this tree"


def main() -> None:
    """Write the files of the other commit, make the trees, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", nargs="?", help="the commit to compare with")
    parser.add_argument("--skills", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=9)
    options = parser.parse_args()
    if not options.base:
        raise SystemExit(f"Name the commit to compare with: {_MAKE} BASE=<commit>.")
    if options.pairs < FEWEST:
        raise SystemExit(f"--pairs {options.pairs}: a 95 % interval needs {FEWEST} pairs or more.")
    end_by_signals()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder, "base")
        write_files(options.base, base, _MAKE)
        new = Side(_tree(), REPOSITORY, Path(folder, "new"))
        old = Side(options.base, base, Path(folder, "old"))
        for side in (new, old):
            make_skills(side.folder / "root", options.skills)
        print(
            f"{old.name} and {new.name}, both with the packages of {sys.prefix}.\n"
            f"{options.skills} skills, {options.pairs} pairs, seconds of whole commands. A change "
            f"of less than {SMALLEST:.0%} has no verdict.\n"
        )
        print(f"| task | {old.name} | this tree | ratio | 95 % interval | |")
        print("|---|---|---|---|---|---|", flush=True)
        slower = compare(new, old, options.pairs)
    if slower:
        raise SystemExit(f"Slower than {options.base}: {', '.join(slower)}.")


if __name__ == "__main__":
    main()
