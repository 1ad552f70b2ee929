"""Speed of validation, compared with the reference validator: one table from one run.

Both are called as libraries, in this process, on the same folders in the page cache. The reference
(`skills_ref.validate`, package skills-ref) checks SKILL.md against the specification, on one core.
skilldrop also reads all other files of a folder, checks further profiles by default, and uses all
cores.
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
from pipeline.dialects.registry import DEFAULT_PROFILES


def main() -> int:
    """Generate the skills, validate them in turns, and print the table."""
    arguments = _arguments()
    try:
        import skills_ref
    except ImportError:
        print("The reference is not installed: pip install skills-ref", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory(prefix="skilldrop-bench-") as folder:
        skills = Path(folder, "skills")
        print(f"Generating {arguments.skills:,} skills of 5 files …", flush=True)
        make_skills(skills, arguments.skills, arguments.seed)
        folders = sorted(file.parent for file in skills.rglob("SKILL.md"))
        validators: dict[str, Callable[[], int]] = {
            "skills_ref.validate": lambda: sum(not skills_ref.validate(each) for each in folders),
            "skilldrop, profile spec": lambda: _valid(skills, ("spec",)),
            "skilldrop, the default profiles": lambda: _valid(skills, DEFAULT_PROFILES),
        }
        seconds = _measure(validators, len(folders), arguments.repeat)
    print(
        f"\n{platform.machine()}, {platform.system()}, Python {platform.python_version()}, "
        f"{arguments.skills:,} skills of 5 files, seed {arguments.seed}, "
        f"median of {arguments.repeat}\n"
    )
    print("| validator | seconds | µs per skill | speed-up |")
    print("|---|---|---|---|")
    reference = seconds["skills_ref.validate"]
    for name, taken in seconds.items():
        print(
            f"| {name} | {taken:.2f} | {taken / len(folders) * 1e6:.0f} | {reference / taken:.1f} |"
        )
    return 0


def _valid(skills: Path, profiles: tuple[str, ...]) -> int:
    return sum(judged.spec_valid for judged in judge_paths([skills], profiles=profiles))


def _measure(
    validators: dict[str, Callable[[], int]], skills: int, repeat: int
) -> dict[str, float]:
    """Return the median seconds of each validator, run in turns on the same machine."""
    taken: dict[str, list[float]] = {name: [] for name in validators}
    for _ in range(repeat):
        for name, validate in validators.items():
            began = time.perf_counter()
            valid = validate()
            taken[name].append(time.perf_counter() - began)
            assert valid == skills, f"{name} finds {valid:,} of {skills:,} skills valid"
    return {name: statistics.median(times) for name, times in taken.items()}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--skills", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--repeat", type=int, default=3, help="repetitions of each validation")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
