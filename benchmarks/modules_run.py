"""Modules of skilldrop that one command runs, as a measure of how much must be read to follow it.

A module counts if one of its functions is called after its import. Class bodies, and calls made by
an import, are counted apart, as declarations. Also counted are the calls that lead from one module
to another, and the deepest stack of own functions. Child processes do not count.
"""

import contextlib
import io
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
PACKAGES = tuple(str(REPOSITORY / package) + "/" for package in ("pipeline", "catalog"))
SKILL = """---
name: first-steps
description: Shows the first steps with a table. Use it when somebody opens a CSV file.
---
# First steps

1. Open the file.
2. Count its rows.
3. Say what the columns contain.
"""


class _Counter:
    """Own functions that were called, by module."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self.declaring: set[str] = set()
        self.changes = 0
        self.deepest = 0
        self._last = ""
        self._depth = threading.local()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """Take an event of `sys.setprofile`."""
        file = frame.f_code.co_filename
        if event not in ("call", "return") or not file.startswith(PACKAGES):
            return
        step = 1 if event == "call" else -1
        if frame.f_code.co_name == "<module>":
            self._depth.imports = getattr(self._depth, "imports", 0) + step
            return
        if getattr(self._depth, "imports", 0):
            self.declaring.add(file)
            return
        depth = getattr(self._depth, "now", 0) + step
        self._depth.now = max(0, depth)
        self.deepest = max(self.deepest, self._depth.now)
        if event == "call":
            self.modules.add(file)
            self.changes += file != self._last
            self._last = file


def _profiled(words: list[str]) -> None:
    """Run a command in this process, and print what it called."""
    from pipeline.cli.entry import main

    counter = _Counter()
    sys.argv = ["skilldrop", *words]
    threading.setprofile(counter)
    sys.setprofile(counter)
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main()
    sys.setprofile(None)
    only_declaring = len(counter.declaring - counter.modules)
    print(len(counter.modules), only_declaring, counter.changes, counter.deepest)


def _measure(words: list[str]) -> str:
    """Return the four numbers of a command, run by a process of its own."""
    command = [sys.executable, __file__, "--profiled", *words]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    return run.stdout.splitlines()[-1]


def main() -> None:
    """Print the size of the product, and the modules that two commands run."""
    files = [file for package in PACKAGES for file in Path(package).rglob("*.py")]
    lines = sum(len(file.read_text("utf-8").splitlines()) for file in files)
    modules = sum(file.name != "__init__.py" for file in files)
    print(f"{lines:,} lines of Python in {modules} modules")
    with tempfile.TemporaryDirectory() as folder:
        skill = Path(folder, "watched/first-steps/SKILL.md")
        skill.parent.mkdir(parents=True)
        skill.write_text(SKILL, "utf-8")
        places = ["--watched", f"{folder}/watched", "--data", f"{folder}/data"]
        for name, words in (
            ("first scan of one skill", ["scan"]),
            ("read of that skill", ["read", "first-steps"]),
        ):
            modules, declaring, changes, deepest = _measure([*places, *words]).split()
            print(
                f"{name}: {modules} modules and {declaring} that only declare,"
                f" {changes} changes of module, {deepest} calls deep"
            )


if __name__ == "__main__":
    _profiled(sys.argv[2:]) if sys.argv[1:2] == ["--profiled"] else main()
