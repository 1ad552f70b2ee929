"""An error of the disk is reported as one, and the folder waits."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.skills import write_skill

SCRIPT = """
import json, sys
from pathlib import Path
from pipeline.config.loader import load
from pipeline.service.scanning.engines import serial
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once

top = Path(sys.argv[1])
settings = load(None, top / "root", top / "data").model_copy(
    update={"settle_quiet": 0.0, "settle_longest": 0.01})
store = open_store(settings)
result = scan_once(settings, store, engine=serial)
print(json.dumps({
    "skills": store.db.execute("SELECT path, status, pending_reason FROM skills"
                               " ORDER BY path").fetchall(),
}))
"""


@pytest.fixture
def bind(tmp_path: Path) -> list[str]:
    """Return a command that shows a file that gives EIO, alone to a program that it starts.

    It is the memory of the shell, in which nothing lies at the first address.
    """
    return [
        "unshare",
        "--mount",
        "sh",
        "-c",
        'mount --bind "/proc/$$/mem" "$0" && "$@"',
        str(tmp_path / "root/s/notes.md"),
    ]


def run(top: Path, bind: list[str]) -> dict[str, list[list[str]]]:
    """Scan and validate a root with a file that gives EIO; skip if none can be made."""
    probe = subprocess.run(
        [*bind, "head", "-c1", bind[-1]], check=False, capture_output=True, text=True
    )
    if "Input/output error" not in probe.stderr:
        pytest.skip(f"no file can be made unreadable here: {probe.stderr.strip()}")
    done = subprocess.run(
        [*bind, sys.executable, "-c", SCRIPT, str(top)], check=True, capture_output=True, text=True
    )
    found: dict[str, list[list[str]]] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_a_new_skill_is_pending_with_the_reason(tmp_path: Path, bind: list[str]) -> None:
    """It is neither rejected nor shown as changing."""
    write_skill(tmp_path / "root/s", files={"notes.md": ""})
    write_skill(tmp_path / "root/t")
    found = run(tmp_path, bind)
    assert found["skills"] == [
        ["s", "pending", "notes.md: reading it failed: Input/output error."],
        ["t", "active", None],
    ]


def test_a_known_skill_keeps_what_it_was(tmp_path: Path, bind: list[str]) -> None:
    """It waits, and is not judged by a part of its content."""
    write_skill(tmp_path / "root/s", files={"notes.md": "before"})
    subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], check=True, capture_output=True)
    found = run(tmp_path, bind)
    assert found["skills"] == [["s", "active", "notes.md: reading it failed: Input/output error."]]
