"""Canned queries and the command about outcomes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from catalog.writing.store import Store
from tests.pipeline.outcomes.test_collect import drop, folder, store, take
from tests.support.program import run
from tests.support.sites import Site

__all__ = ["folder", "store"]


def memory(owner: str, importance: int) -> dict[str, object]:
    """Return a memory of a user."""
    return {
        "ownerType": "user",
        "ownerId": owner,
        "type": "fact",
        "importance": importance,
        "content": f"{owner} {importance}",
    }


def step(name: str, duration: float) -> dict[str, object]:
    """Return a step."""
    return {"stepId": name, "stepName": name, "duration": duration, "timestamp": 1_763_625_600_123}


@pytest.mark.requirement("own/outcome-queries")
def test_queries_answer_what_runs_did(
    store: Store, folder: Path, serve: Callable[[Path], Site]
) -> None:
    """The slowest steps, failures by skill, and memories by owner; of the newest revisions."""
    drop(
        folder,
        intermediateSteps=[step("ask", 5), step("read", 900)],
        memoryWrites=[memory("anna", 2), memory("ben", 4), memory("anna", 5)],
    )
    drop(folder, "run-2", status="failed", message="no network", output=None)
    drop(folder, "run-3", "other", intermediateSteps=[step("wait", 20)])
    take(store, folder)
    store.close()
    site = serve(folder.parent / "catalog.db")
    steps = [(row["step"], row["milliseconds"]) for row in site.rows("slowest_steps", skill="")]
    assert steps == [("read", 900), ("wait", 20), ("ask", 5)]
    assert [row["step"] for row in site.rows("slowest_steps", skill="other")] == ["wait"]
    (failed,) = site.rows("failures_by_skill")
    assert (failed["skill"], failed["failed"], failed["runs"]) == ("meetings", 1, 2)
    assert failed["last_message"] == "no network"
    for owner, contents in (
        ("user:anna", ["anna 5", "anna 2"]),
        ("user", ["anna 5", "anna 2", "ben 4"]),
        ("user:eve", []),
    ):
        assert [row["content"] for row in site.rows("memory_by_owner", owner=owner)] == contents


@pytest.mark.requirement("own/outcome-command")
def test_the_command_validates_files_by_hand(tmp_path: Path) -> None:
    """Exit code 0 for a good file and 1 for a bad one; nothing is moved or stored."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text('{"output": 1, "status": "success"}')
    bad.write_text('{"output": 1, "status": 3}')
    assert run("outcome", good).returncode == 0
    result = run("outcome", "--json", good, bad)
    assert result.returncode == 1
    findings = json.loads(result.stdout)
    assert "outcome-field-wrong" in json.dumps(findings)
    assert sorted(tmp_path.iterdir()) == [bad, good]
