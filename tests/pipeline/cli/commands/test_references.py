"""References between skills in the commands."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.support.program import run
from tests.support.skills import write_skill


@pytest.fixture(autouse=True)
def scanned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Scan skills that need each other, one that is missing, and one that links to another."""
    monkeypatch.setenv("SKILLDROP_SETTLE_QUIET", "0")
    write_skill(Path("watched/report"), more="depends_on: [charts]")
    write_skill(Path("watched/charts"), more="depends_on: [report, csv]")
    write_skill(Path("watched/csv"), more="depends_on: [nothing-here]")
    write_skill(Path("watched/pdf"), body="See [csv](../csv/SKILL.md).\n")
    assert run("scan").returncode == 0


def test_the_status_lists_broken_references() -> None:
    """With the reason."""
    assert "reference broken: csv  It declares to need “nothing-here”" in run("status").stdout


def test_show_names_used_and_needed_skills_and_the_users() -> None:
    """In words and as JSON."""
    lines = run("show", "charts").stdout.splitlines()
    first = lines.index("uses      csv, report")
    assert lines[first + 1 : first + 3] == ["needs     csv, report", "used by   report"]
    facts = json.loads(run("show", "csv", "--json").stdout)
    assert (facts["uses"], facts["used_by"]) == ([], ["charts", "pdf"])


def test_the_users_of_a_removed_skill_are_named() -> None:
    """The next scan makes a finding of it."""
    run("remove", "csv")
    run("scan")
    assert "reference broken: pdf  “../csv/SKILL.md” leads to" in run("status").stdout


def test_a_link_leads_from_skill_to_skill_through_the_links_for_agents() -> None:
    """Whether agents join paths by their text, or the system follows links first."""
    agents = Path("var/skills")
    written = "../csv/SKILL.md"
    joined = Path(os.path.normpath(agents / "pdf" / written))
    assert joined.read_text() == Path("watched/csv/SKILL.md").read_text()
    logical = subprocess.run(
        ["bash", "-c", "cd var/skills/pdf && cd ../csv && cat SKILL.md"],
        capture_output=True,
        check=True,
        text=True,
    )
    assert logical.stdout == joined.read_text()
    assert (agents / "pdf" / written).read_text() == joined.read_text()
