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
from itertools import repeat
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

_PROGRAM = """
import contextlib, gc, hashlib, json, os, sqlite3, sys
from pathlib import Path
import yaml
from pipeline.cli import entry
from pipeline.config.settings import Settings
from pipeline.roots.local import folder as local_folder
from pipeline.service.scanning.engines import serial
from pipeline.service.scanning import change_batches
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once

change_batches.PAUSE = float("inf")  # batches must not end by the time, which valgrind stretches
local_folder.MARGIN_NS = 0  # the folders have just been made

def scan(root, data, publish):
    settings = Settings(watched=root, data=data, settle_quiet=0, publish=publish, usage=False)
    store = open_store(settings)
    scan_once(settings, store, engine=serial)
    store.close()

def validate(root):
    sys.argv = ["skilldrop", "validate", "--format", "json", root]
    sys.stdout = open("/dev/null", "w")
    entry.main()

def floor(root):
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE texts USING fts5(text)")
    for file in Path(root).rglob("*"):
        if file.is_file():
            content = file.read_bytes()
            hashlib.sha256(content).hexdigest()
            if file.name == "SKILL.md":
                text = content.decode()
                yaml.load(text.split("---")[1], yaml.CSafeLoader)
                db.execute("INSERT INTO texts VALUES (?)", [text])

here, apart = map(json.loads, sys.argv[1:])
for _, function, *words in here:
    with contextlib.suppress(SystemExit):
        globals()[function](*words)
gc.collect()
gc.freeze()  # otherwise a chance collection of all modules counts as the work of some skills
code = 0
for name, function, *words in apart:
    child = os.fork()
    if not child:
        globals()[function](*words)
        sys.exit()
    Path(name).write_text(str(child))
    code = max(code, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), key=abs)
sys.exit(code)
"""
"""Program that runs some tasks itself, and others each in a process of its own.

What the former import or compile need not be made again in the latter, where it would be counted.
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
    function: str
    publish: tuple[str, ...] = ()  # of a scan, which also has a data folder
    is_again: bool = False  # counted on the catalog that a first run made


FLOOR = Task("floor", "floor")
TASKS = (
    Task("cold scan, publish in-place", "scan", ("in-place",)),
    Task("unchanged re-scan", "scan", ("copy",), is_again=True),
    Task("validate", "validate"),
)


def work_per_skill(kind: Kind, core: int, code: Path = REPOSITORY) -> dict[Task, float]:
    """Return the instructions that one more skill of a kind costs each task, on one core.

    Raises SystemExit if a task fails.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        environment = os.environ | {
            "PYTHONHASHSEED": "0",
            "PYTHONPATH": str(code),
            "PYTHONDONTWRITEBYTECODE": "1",  # otherwise the first run compiles for all others
        }
        roots = {number: folder / f"{number} skills" for number in (0, kind.few, kind.more)}
        for number, root in roots.items():
            kind.make(root, number or kind.more)  # 0: judged before anything is counted
        calls = {}
        for task in (FLOOR, *TASKS):  # few beside more, as each fork adds to the count of the next
            for number, root in roots.items():
                name = f"{task.name}, {number}"
                data = [f"{name}.data", *task.publish] if task.publish else []
                calls[task, number] = [name, task.function, str(root), *data]
        program = [sys.executable, "-c", _PROGRAM]
        # The second run compares the packages for the last time, and stores the stats.
        again = [call for (task, _), call in calls.items() if task.is_again] * 2
        first = [*program, "[]", json.dumps(again)]
        run(f"a scan of {kind.name} skills", first, environment, folder)
        here = [calls.pop((task, 0)) for task in (FLOOR, *TASKS)]
        counter = [
            "taskset",
            "--cpu-list",
            str(core),
            "valgrind",
            "--tool=cachegrind",
            "--cache-sim=no",
            "--log-file=%p.log",
            "--cachegrind-out-file=/dev/null",
        ]
        command = [*counter, *program, json.dumps(here), json.dumps([*calls.values()])]
        run(f"a task of {kind.name} skills", command, environment, folder)
        counts = {each: _count(folder, name) for each, (name, *_) in calls.items()}
        return {
            task: (counts[task, kind.more] - counts[task, kind.few]) / (kind.more - kind.few)
            for task in (FLOOR, *TASKS)
        }


def _count(folder: Path, name: str) -> int:
    """Return the instructions of the process of a task."""
    log = (folder / f"{(folder / name).read_text()}.log").read_text()
    counted = re.search(r"I\s+refs:\s+([\d,]+)", log)
    if not counted:
        raise SystemExit(f"valgrind counted nothing:\n{log}")
    return int(counted[1].replace(",", ""))


def measured(code: Path = REPOSITORY) -> dict[Kind, dict[Task, float]]:
    """Return the work per skill of each kind; each kind has a core, if there are enough."""
    cores = sorted(os.sched_getaffinity(0))
    with ThreadPoolExecutor() as pool:
        work = pool.map(work_per_skill, KINDS, (cores[0], cores[-1]), repeat(code))
        return dict(zip(KINDS, work, strict=True))


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


def ratios_of(work: Mapping[Kind, Mapping[Task, float]]) -> dict[str, float]:
    """Return the ratio of each task to the floor, by its name and that of the kind."""
    return {
        f"{task.name}, {kind.name}": round(counts[task] / counts[FLOOR], 3)
        for kind, counts in work.items()
        for task in TASKS
    }


def base_ratios(commit: str) -> dict[str, float]:
    """Return the ratios of a commit. Raises SystemExit if there is none."""
    with tempfile.TemporaryDirectory() as folder:
        code = Path(folder, "base")
        write_files(commit, code, _MAKE)
        for package in ("catalog", "pipeline"):
            compileall.compile_dir(code / package, quiet=1)
        return ratios_of(measured(code))


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
    if options.base:
        before = base_ratios(options.base)
    base = options.base or SAVED.name
    work = measured()
    ratios = ratios_of(work)
    print(f"{MEANING}\n")
    print(f"| work per skill | million instructions | ratio to the floor | {base} | change |")
    print("|---|---|---|---|---|")
    for kind, counts in work.items():
        print(f"| floor, {kind.name} | {counts[FLOOR] / 1e6:.2f} | 1 | | |")
        for task in TASKS:
            name = f"{task.name}, {kind.name}"
            earlier = before.get(name)
            change = f"{earlier} | {ratios[name] / earlier - 1:+.1%}" if earlier else " | "
            print(f"| {name} | {counts[task] / 1e6:.2f} | {ratios[name]} | {change} |")
    if options.save:
        SAVED.write_text(json.dumps({"python": PYTHON, "ratios": ratios}, indent=2) + "\n")
    elif more := complaints(ratios, before, base):
        accept = (
            [] if options.base else ["To accept it: .venv/bin/python benchmarks/work.py --save"]
        )
        raise SystemExit("\n".join(more + accept))


if __name__ == "__main__":
    main()
