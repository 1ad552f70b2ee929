"""A folder that gets another name while no service runs."""

import json
from pathlib import Path

import pytest

from tests.support.program import run
from tests.support.skills import write_skill


def test_a_scan_right_after_a_rename_keeps_the_versions_and_the_pin(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new folder still settles when the old one is missed: the removal waits for it."""
    monkeypatch.setenv("SKILLDROP_WATCHED", str(tmp_path / "root"))
    monkeypatch.setenv("SKILLDROP_SETTLE_QUIET", "0.3")
    write_skill(tmp_path / "root/a")
    write_skill(tmp_path / "root/b")
    run("scan")
    write_skill(tmp_path / "root/a", description="Newer.")
    run("scan")
    before = json.loads(run("versions", "a", "--json").stdout)
    assert run("pin", "a", before["versions"][-1]["version"]).returncode == 0
    (tmp_path / "root/a").rename(tmp_path / "root/c")
    counts = json.loads(run("scan", "--json").stdout)
    assert (counts["renamed"], counts["added"], counts["removed"]) == (1, 0, 0)
    after = json.loads(run("versions", "a", "--json").stdout)
    assert (len(after["versions"]), after["pinned_to"]) == (2, before["versions"][-1]["version"])
