"""Speed of validation beside the reference validator: one table from one run.

Both are called as libraries, in this process, on the same folders, which are in the page cache.
The reference (`skills_ref.validate`, package skills-ref) judges SKILL.md by the specification, on
one core. We also see to every other file of a folder, by default ask the rules of other profiles,
too, and work on all cores.
"""

import argparse
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from made_skills import make_skills

from pipeline.authoring.lint import judge_paths
from pipeline.validation.registry import FOR_ALL


def main() -> int:
    """Make the skills, let both judge them in turns, print the table."""
    arguments = _arguments()
    try:
        import skills_ref
    except ImportError:
        print("The reference is not installed: pip install skills-ref", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as place:
        skills = Path(place, "skills")
        print(f"Making {arguments.skills:,} skills of 5 files …", flush=True)
        make_skills(skills, arguments.skills, arguments.seed)
        folders = sorted(file.parent for file in skills.rglob("SKILL.md"))
        judges: dict[str, Callable[[], int]] = {
            "skills_ref.validate": lambda: sum(not skills_ref.validate(each) for each in folders),
            "skilldrop, profile spec": lambda: _valid(skills, ("spec",)),
            "skilldrop, the default profiles": lambda: _valid(
                skills, tuple(profile.name for profile in FOR_ALL)
            ),
        }
        seconds = _measure(judges, len(folders), arguments.repeat)
    print(
        f"\n{platform.machine()}, {platform.system()}, Python {platform.python_version()}, "
        f"{arguments.skills:,} skills of 5 files, seed {arguments.seed}, "
        f"median of {arguments.repeat}\n"
    )
    print("| validator | seconds | µs a skill | times as fast |")
    print("|---|---|---|---|")
    reference = seconds["skills_ref.validate"]
    for name, taken in seconds.items():
        print(
            f"| {name} | {taken:.2f} | {taken / len(folders) * 1e6:.0f} | {reference / taken:.1f} |"
        )
    return 0


def _valid(skills: Path, profiles: tuple[str, ...]) -> int:
    return sum(judged.spec_valid for judged in judge_paths([skills], profiles=profiles))


def _measure(judges: dict[str, Callable[[], int]], skills: int, repeat: int) -> dict[str, float]:
    """Return the median seconds of each, taken in turns, so that all see the same machine."""
    taken: dict[str, list[float]] = {name: [] for name in judges}
    for _ in range(repeat):
        for name, judge in judges.items():
            began = time.perf_counter()
            valid = judge()
            taken[name].append(time.perf_counter() - began)
            assert valid == skills, f"{name} takes {valid:,} of {skills:,} skills to be valid"
    return {name: statistics.median(times) for name, times in taken.items()}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=3, help="times that each judges all skills")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
