"""Start of the program in a directory that is not trusted."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.skills import SkillWriter

MODULES = (
    "_pickle",
    "catalog",
    "distributed",
    "json",
    "logging",
    "multiprocessing",
    "pipeline",
    "pydantic",
    "sqlite3",
    "threading",
    "yaml",
)
"""Imports of the processes that the program starts."""

WHILE_IMPORTING = """
import os, signal, sys
class Finder:
    def find_spec(self, name, *_):
        if name == {module!r}:
            os.kill(os.getpid(), signal.{number})
sys.meta_path.insert(0, Finder())
sys.argv = ["skilldrop", *{words!r}]
from pipeline.cli.entry import main
main()
"""


def stopped(module: str, number: str, words: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a command that receives a signal when it begins to import a module."""
    program = WHILE_IMPORTING.format(module=module, number=number, words=words)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("words", [["status"], []])
def test_a_command_that_is_stopped_during_its_import_ends_by_the_signal(words: list[str]) -> None:
    """The caller learns that they did not finish their work."""
    assert stopped("pipeline.cli.app", "SIGTERM", words).returncode == -signal.SIGTERM


def test_nothing_is_imported_from_the_working_directory(tmp_path: Path, skill: SkillWriter) -> None:
    """Not even by child processes, and not if the directory is a skill's folder."""
    for number in range(520):
        skill(tmp_path / f"root/s{number}")
    here = skill(
        tmp_path / "root/hostile",
        files={f"{module}.py": "open('imported', 'a').write(__name__)\n" for module in MODULES},
    )
    done = subprocess.run(
        [
            Path(sys.executable).with_name("skilldrop"),
            "--watched",
            tmp_path / "root",
            "--data",
            tmp_path / "data",
            "scan",
        ],
        cwd=here,
        env=os.environ | {"SKILLDROP_SETTLE_QUIET": "0", "SKILLDROP_PUBLISH": "in-place"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (here / "imported").exists(), (here / "imported").read_text()
