"""Two commits, measured in alternating pairs: this tree and another commit.

Each pair runs both, in changing order, on trees of the same made skills, so that noise of the
machine falls on both. The table has the median ratio of the pairs with its 95 % confidence
interval, by the ranks of the sorted ratios. A task is slower if the whole interval is above 1.
"""

import argparse
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from made_skills import make_skills
from timing import seconds_of

_PROGRAM = "from pipeline.cli.entry import main; main()"
REPOSITORY = Path(__file__).parents[1]


class Side(NamedTuple):
    """One of the two commits, with a catalog of its own."""

    code: Path
    folder: Path

    def run(self, *words: str) -> None:
        """Run the program of this side on the tree. Raises SystemExit if it fails."""
        options = ["--watched", str(self.folder / "root"), "--data", str(self.folder / "data")]
        done = subprocess.run(
            [sys.executable, "-c", _PROGRAM, *options, *words],
            env=os.environ | {"PYTHONPATH": str(self.code), "SKILLDROP_SETTLE_QUIET": "0"},
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):  # 1: findings
            raise SystemExit(f"{self.code}: skilldrop {' '.join(words)}: {done.stderr[-2000:]}")

    def forget(self) -> None:
        """Remove the catalog."""
        shutil.rmtree(self.folder / "data", ignore_errors=True)


def _cold(side: Side) -> float:
    side.forget()
    return seconds_of(lambda: side.run("scan"))


def _of(*words: str) -> Callable[[Side], float]:
    return lambda side: seconds_of(lambda: side.run(*words))


TASKS: dict[str, Callable[[Side], float]] = {
    "cold scan": _cold,
    "unchanged scan": _of("scan"),
    "validate": _of("validate", "--format", "json", "root"),
    "search": _of("search", "deploy cache"),
    "status": _of("status"),
    "reconcile --check": _of("reconcile", "--check"),
}


def interval(ratios: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % confidence interval of the median, from the ranks of the sorted values."""
    ordered = sorted(ratios)
    count = len(ordered)
    below = math.floor(count / 2 - 1.96 * math.sqrt(count) / 2)
    return ordered[max(below, 0)], ordered[min(count - 1 - below, count - 1)]


def compare(sides: tuple[Side, Side], pairs: int) -> list[str]:
    """Measure all tasks, print a row for each, and return those that became slower."""
    slower = []
    for name, measure in TASKS.items():
        measure(sides[0]), measure(sides[1])  # the first runs fill the caches
        times: list[list[float]] = [[], []]
        for pair in range(pairs):
            for which in (0, 1) if pair % 2 else (1, 0):
                times[which].append(measure(sides[which]))
        ratios = [new / old for new, old in zip(*times, strict=True)]
        low, high = interval(ratios)
        verdict = "slower" if low > 1 else "faster" if high < 1 else ""
        print(
            f"| {name} | {statistics.median(times[1]):.3f} | {statistics.median(times[0]):.3f} "
            f"| {statistics.median(ratios):.2f} | {low:.2f} to {high:.2f} | {verdict} |",
            flush=True,
        )
        if verdict == "slower":
            slower.append(name)
    return slower


def main() -> None:
    """Check out the other commit, make the trees, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--skills", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder, "base")
        git = ["git", "-C", str(REPOSITORY)]
        subprocess.run([*git, "worktree", "add", "--quiet", base, options.base], check=True)
        try:
            sides = (Side(REPOSITORY, Path(folder, "new")), Side(base, Path(folder, "old")))
            for side in sides:
                make_skills(side.folder / "root", options.skills)
            print(f"{options.skills} skills, {options.pairs} pairs, seconds of whole commands\n")
            print(f"| task | {options.base} | this tree | ratio | 95 % interval | |")
            print("|---|---|---|---|---|---|")
            slower = compare(sides, options.pairs)
        finally:
            subprocess.run([*git, "worktree", "remove", "--force", base], check=True)
    if slower:
        raise SystemExit(f"Slower than {options.base}: {', '.join(slower)}.")


if __name__ == "__main__":
    main()
