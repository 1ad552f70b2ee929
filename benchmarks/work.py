"""Instructions that each skill costs, beside those of a floor: a measure with little noise.

Valgrind counts the instructions of a task on one core, with few and with more skills; the
difference is the work per skill. Packages are not counted: other processes make them. All is
counted for made skills, with 4 KB beside SKILL.md, and for real-sized ones, with 21 KB. The ratio
to the floor of the same skills is compared with benchmarks/work.json, where a twentieth more is an
error; --save writes that file.

The same code has the same ratio to 1 %. Measured for this, it changed by another 1 % with other
versions of pydantic, PyYAML and pathspec or another file system, by up to 3.5 % with Debian's build
of Python 3.11 for one of pyenv, and by up to 9 % with Python 3.12 or 3.13. So the saved ratios are
only compared with those of the same version of Python; --base measures another commit in the same
run instead, with any.
"""

import argparse
import compileall
import json
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from commits import REPOSITORY, run, write_files
from made_skills import make_skills
from real_sized_skills import make_real_sized_skills
from stopping import end_by_signals

SAVED = Path(__file__).with_name("work.json")
ALLOWED = 0.05
"""Largest increase, as a part of the earlier ratio."""
PYTHON = (
    f"{platform.python_implementation()} {'.'.join(platform.python_version_tuple()[:2])} "
    f"on {platform.machine()}"
)
MEANING = (
    "A ratio of 6 says: a skill costs six times the instructions of hashing all its files, parsing "
    "the YAML of its SKILL.md and indexing that text."
)
_MAKE = "make bench-work"

_SCAN = """
import sys
from pathlib import Path
from pipeline.config.settings import Settings
from pipeline.roots.local import folder as local_folder
from pipeline.service.scanning.engines import serial
from pipeline.service.scanning import change_batches
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
change_batches.PAUSE = float("inf")  # batches must not end by the time, which valgrind stretches
local_folder.MARGIN_NS = 0  # the folders have just been made
root, data, publish = sys.argv[1:]
settings = Settings(watched=root, data=data, settle_quiet=0, publish=publish, usage=False)
store = open_store(settings)
scan_once(settings, store, engine=serial)
store.close()
"""
_VALIDATE = """
import sys
from pipeline.cli.entry import main
sys.argv = ["skilldrop", "validate", "--format", "json", sys.argv[1]]
sys.stdout = open("/dev/null", "w")
main()
"""
_FLOOR = """
import hashlib, sqlite3, sys
from pathlib import Path
import yaml
db = sqlite3.connect(":memory:")
db.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
for file in Path(sys.argv[1]).rglob("*"):
    if file.is_file():
        content = file.read_bytes()
        hashlib.sha256(content).hexdigest()
        if file.name == "SKILL.md":
            text = content.decode()
            yaml.load(text.split("---")[1], yaml.CSafeLoader)
            db.execute("INSERT INTO texts VALUES (?)", [text])
"""


class Kind(NamedTuple):
    """Kind of skills, and the two numbers of them whose work is compared.

    The fixed costs of start and imports cancel out.
    """

    name: str
    make: Callable[[Path, int], None]
    few: int
    more: int


KINDS = (
    Kind("made", make_skills, 20, 60),
    Kind("real-sized", make_real_sized_skills, 5, 13),
)


class Task(NamedTuple):
    """Task whose work is counted."""

    name: str
    code: str
    arguments: tuple[str, ...] = ()
    is_again: bool = False  # counted on the catalog that a first run made


TASKS = (
    Task("cold scan, publish in-place", _SCAN, ("in-place",)),
    Task("unchanged re-scan", _SCAN, ("copy",), is_again=True),
    Task("validate", _VALIDATE),
)
FLOOR = Task("floor", _FLOOR)


def instructions(task: Task, kind: Kind, skills: int, code: Path, core: int) -> int:
    """Return the instructions of one run of a task with this many skills, on one core.

    Raises SystemExit if it fails.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        root, data, log = folder / "root", folder / "data", folder / "log"
        kind.make(root, skills)
        words = [str(root), *([str(data), *task.arguments] if task.arguments else [])]
        command = [sys.executable, "-c", task.code, *words]
        environment = os.environ | {
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(code),
            "PYTHONDONTWRITEBYTECODE": "1",  # otherwise the first run compiles for all others
        }
        if task.is_again:
            run(task.name, command, environment, folder)
            # Compares the packages for the last time, stores the stats.
            run(task.name, command, environment, folder)
        counter = [
            "taskset",
            "--cpu-list",
            str(core),
            "valgrind",
            "--tool=cachegrind",
            "--cache-sim=no",
            f"--log-file={log}",
            f"--cachegrind-out-file={folder}/out",
        ]
        run(task.name, [*counter, *command], environment, folder)
        counted = re.search(r"I\s+refs:\s+([\d,]+)", log.read_text())
        if not counted:
            raise SystemExit(f"valgrind counted nothing:\n{log.read_text()}")
        return int(counted[1].replace(",", ""))


def per_skill(task: Task, kind: Kind, code: Path = REPOSITORY) -> float:
    """Return the instructions that one more skill costs."""
    cores = sorted(os.sched_getaffinity(0))
    with ThreadPoolExecutor() as pool:
        few = pool.submit(instructions, task, kind, kind.few, code, cores[0])
        more = pool.submit(instructions, task, kind, kind.more, code, cores[-1])
        return (more.result() - few.result()) / (kind.more - kind.few)


def saved_ratios() -> dict[str, float]:
    """Return the saved ratios; none, with a notice, if another Python has them."""
    saved = json.loads(SAVED.read_text())
    if saved["python"] == PYTHON:
        return dict(saved["ratios"])
    print(
        f"{SAVED.name} was saved with {saved['python']}; {PYTHON} does other work for the same "
        f"code, so nothing is compared. To compare with a commit: {_MAKE} BASE=<commit>.",
        file=sys.stderr,
    )
    return {}


def base_ratios(commit: str, floors: Mapping[Kind, float]) -> dict[str, float]:
    """Return the ratios of a commit. Raises SystemExit if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        code = Path(folder, "base")
        write_files(commit, code, _MAKE)
        for package in ("catalog", "pipeline"):
            compileall.compile_dir(code / package, quiet=1)
        return {
            f"{task.name}, {kind.name}": round(per_skill(task, kind, code) / floor, 3)
            for kind, floor in floors.items()
            for task in TASKS
        }


def complaints(ratios: Mapping[str, float], before: Mapping[str, float], base: str) -> list[str]:
    """Return a sentence for each task that does more than ALLOWED of additional work."""
    return [
        f"{name}: {ratio} times the work of the floor per skill, {ratio / before[name] - 1:.1%} "
        f"more than {before[name]} of {base}; {ALLOWED:.0%} is allowed."
        for name, ratio in ratios.items()
        if name in before and ratio > (1 + ALLOWED) * before[name]
    ]


def main() -> None:
    """Count, print, and save or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    compared = parser.add_mutually_exclusive_group()
    compared.add_argument("--save", action="store_true", help="write the ratios to work.json")
    compared.add_argument("--base", help="compare with this commit, measured in the same run")
    options = parser.parse_args()
    for program in ("valgrind", "taskset"):
        if not shutil.which(program):
            raise SystemExit(f"{program} is not installed; instructions are counted with it.")
    end_by_signals()
    before = {} if options.save or options.base else saved_ratios()
    floors = {kind: per_skill(FLOOR, kind) for kind in KINDS}
    if options.base:
        before = base_ratios(options.base, floors)
    base = options.base or SAVED.name
    ratios = {}
    print(f"{MEANING}\n")
    print(f"| work per skill | million instructions | ratio to the floor | {base} | change |")
    print("|---|---|---|---|---|")
    for kind, floor in floors.items():
        print(f"| floor, {kind.name} | {floor / 1e6:.2f} | 1 | | |")
        for task in TASKS:
            name, count = f"{task.name}, {kind.name}", per_skill(task, kind)
            ratio = ratios[name] = round(count / floor, 3)
            earlier = before.get(name)
            change = f"{earlier} | {ratio / earlier - 1:+.1%}" if earlier else " | "
            print(f"| {name} | {count / 1e6:.2f} | {ratio} | {change} |", flush=True)
    if options.save:
        SAVED.write_text(json.dumps({"python": PYTHON, "ratios": ratios}, indent=2) + "\n")
    elif more := complaints(ratios, before, base):
        accept = (
            [] if options.base else ["To accept it: .venv/bin/python benchmarks/work.py --save"]
        )
        raise SystemExit("\n".join(more + accept))


if __name__ == "__main__":
    main()
