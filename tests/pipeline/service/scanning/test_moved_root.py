"""A root that was moved to another place, which the settings name instead of the old one."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.program import run
from tests.support.skills import write_skill


@pytest.fixture(autouse=True)
def old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a root with two skills, of which one is pinned to its first version."""
    monkeypatch.setenv("SKILLDROP_SETTLE_QUIET", "0")
    for name in ("pinned", "other"):
        write_skill(tmp_path / "old" / name)
    scan("old")
    write_skill(tmp_path / "old/pinned", description="Newer.")
    scan("old")
    first = history("pinned")["versions"][-1]["version"]
    assert run("pin", "pinned", first).returncode == 0


def scan(root: str) -> dict[str, Any]:
    """Scan with this root only, and return the counts."""
    Path("skilldrop.toml").write_text(f"[[roots]]\npath = '{root}'\n")
    return dict(json.loads(run("scan", "--json").stdout))


def history(skill: str) -> dict[str, Any]:
    """Return a skill with its versions."""
    return dict(json.loads(run("versions", skill, "--json").stdout))


def test_a_moved_root_keeps_its_skills_with_versions_and_pins() -> None:
    """They are recognised by their content, as a renamed folder is."""
    before = [history(name) for name in ("pinned", "other")]
    shutil.move("old", "new")
    counts = scan("new")
    assert (counts["renamed"], counts["added"], counts["held"]) == (2, 0, 0)
    assert [history(name) for name in ("pinned", "other")] == before
    assert before[0]["pinned_to"]
    assert run("reconcile", "--check").returncode == 0


def test_a_copy_of_a_root_that_is_still_there_is_no_move() -> None:
    """The skills of the old root are held, as somebody may configure it again."""
    shutil.copytree("old", "new")
    counts = scan("new")
    assert (counts["renamed"], counts["added"], counts["held"]) == (0, 2, 2)
