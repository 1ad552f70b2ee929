"""Instructions that each skill costs, beside those of a floor: a measure without noise.

Valgrind counts the instructions of a task on one core, with few and with more skills; the
difference is the work per skill. Packages are not counted: other processes make them. The ratio to
the floor hardly depends on the machine. It is compared with benchmarks/work.json, where a tenth
more is an error; --save writes that file.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from made_skills import make_skills

HERE = Path(__file__).parent
SAVED = HERE / "work.json"
FEW, MORE = 20, 60
"""Numbers of skills; the fixed costs of start and imports cancel out. Both are several pieces."""
ALLOWED = 1.1
"""Largest ratio to the saved value."""

_SCAN = """
import sys
from pathlib import Path
from pipeline.config.settings import Settings
from pipeline.roots.local import stat_cache
from pipeline.sync.engines.processes import serial
from pipeline.sync import change_batches
from pipeline.sync.open_catalog import open_store
from pipeline.sync.run_once import scan_once
change_batches.PAUSE = float("inf")  # batches must not end by the time, which valgrind stretches
stat_cache.MARGIN_NS = 0  # the folders have just been made
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


def instructions(task: Task, skills: int) -> int:
    """Return the instructions of one run of a task with this many skills."""
    with tempfile.TemporaryDirectory() as folder:
        root, data = Path(folder, "root"), Path(folder, "data")
        make_skills(root, skills)
        words = [str(root), *([str(data), *task.arguments] if task.arguments else [])]
        command = [sys.executable, "-c", task.code, *words]
        environment = os.environ | {"PYTHONHASHSEED": "0", "PYTHONPATH": str(HERE.parent)}
        if task.is_again:
            _run(command, environment)
            _run(command, environment)  # compares the packages for the last time, stores the stats
        log = Path(folder, "log")
        counter = [
            "taskset",
            "--cpu-list",
            "0",
            "valgrind",
            "--tool=cachegrind",
            "--cache-sim=no",
            f"--log-file={log}",
        ]
        _run([*counter, f"--cachegrind-out-file={folder}/out", *command], environment)
        counted = re.search(r"I\s+refs:\s+([\d,]+)", log.read_text())
        if not counted:
            raise SystemExit(f"valgrind counted nothing:\n{log.read_text()}")
        return int(counted[1].replace(",", ""))


def _run(command: Sequence[str], environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, errors="replace", check=False
    )
    if done.returncode not in (0, 1):  # 1: findings
        raise SystemExit(f"{' '.join(command[:4])} failed:\n{done.stderr[-2000:]}")


def per_skill(task: Task) -> float:
    """Return the instructions that one more skill costs."""
    return (instructions(task, MORE) - instructions(task, FEW)) / (MORE - FEW)


def main() -> None:
    """Count, print, and save or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", action="store_true", help="write the ratios to work.json")
    options = parser.parse_args()
    floor = per_skill(FLOOR)
    saved = json.loads(SAVED.read_text()) if SAVED.exists() else {}
    ratios = {}
    more = []
    print("| work per skill | million instructions | ratio to the floor | saved |")
    print("|---|---|---|---|")
    print(f"| hash all files, read and index SKILL.md | {floor / 1e6:.2f} | 1 | |")
    for task in TASKS:
        count = per_skill(task)
        ratios[task.name] = round(count / floor, 3)
        before = saved.get(task.name, "")
        print(f"| {task.name} | {count / 1e6:.2f} | {ratios[task.name]} | {before} |", flush=True)
        if ratios[task.name] > ALLOWED * saved.get(task.name, float("inf")):
            more.append(task.name)
    if options.save:
        SAVED.write_text(json.dumps(ratios, indent=2) + "\n")
    elif more:
        raise SystemExit(
            f"A tenth more work per skill than saved in {SAVED.name}: {', '.join(more)}."
        )


if __name__ == "__main__":
    main()
