"""Decisions of reviewers after the catalog was lost or damaged."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.damaged_pages import overwrite, pages_of, rows
from tests.support.program import run
from tests.support.skills import write_skill

CATALOG = Path("var/catalog.db")
STATES = "SELECT path, status, current_version_id IS NOT NULL FROM skills ORDER BY path"


@pytest.fixture(autouse=True)
def reviewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a catalog with an approved skill, a rejected one and one that waits."""
    monkeypatch.setenv("SKILLDROP_SETTLE_QUIET", "0")
    Path("skilldrop.toml").write_text('[[roots]]\npath = "watched"\nreview = "always"\n')
    for name in ("approved", "rejected", "waits"):
        write_skill(Path("watched", name))
    run("scan")
    run("approve", "approved")
    run("reject", "rejected", "--why", "No.")
    assert published() == ["approved"]


def published() -> list[str]:
    """Return the names of the skills that agents get."""
    return [path.name for path in sorted(Path("var/skills").iterdir()) if path.name[0] != "."]


def lose(_: str) -> None:
    """Delete the catalog."""
    for path in Path("var").glob("catalog.db*"):
        path.unlink()


def damage(table: str) -> None:
    """Fill the pages of a table with garbage."""
    overwrite(CATALOG, pages_of(CATALOG, table))


def lose_all(_: str) -> None:
    """Delete the catalog and the journal of decisions."""
    lose("")
    Path("var/decisions.jsonl").unlink()


@pytest.mark.parametrize(
    ("mishap", "table", "kept"),
    [
        (lose_all, "", []),
        (lose, "", ["approved"]),
        (damage, "reviews", ["approved"]),
        (damage, "versions", ["approved"]),
        (damage, "skills", ["approved"]),
        (damage, "roots", ["approved"]),
    ],
)
def test_nothing_is_published_without_a_decision_that_was_kept(
    mishap: Callable[[str], None], table: str, kept: list[str]
) -> None:
    """Lost approvals make a skill wait again; what was kept of them counts, by its content."""
    mishap(table)
    assert run("scan").returncode == 0
    assert published() == kept
    states = {path: status for path, status, _ in rows(CATALOG, STATES)}
    lost = {"approved": "pending", "rejected": "pending"}
    known = {"approved": "active", "rejected": "rejected"}
    assert states == (known if kept else lost) | {"waits": "pending"}
    assert run("reconcile", "--check").returncode == 0


@pytest.mark.parametrize("mishap", [lose, lambda _: damage("reviews")])
def test_decisions_from_the_journal_are_told(
    mishap: Callable[[str], None], caplog: pytest.LogCaptureFixture
) -> None:
    """The log says how many were taken over."""
    mishap("")
    run("scan")
    assert "2 reviews and 0 pins; they were taken over from the journal" in caplog.text


def test_a_pin_outlives_the_catalog() -> None:
    """Agents still get the pinned version, whatever the folder has, and it can be unpinned."""
    run("approve", "waits")
    write_skill(Path("watched", "approved"), description="Does other work.")
    run("scan")
    run("approve", "approved")
    ((first,), (second,)) = rows(
        CATALOG, "SELECT version FROM versions WHERE skill_id = 'approved' ORDER BY id"
    )
    run("rollback", "approved", first)
    before = Path("var/skills/approved/SKILL.md").read_bytes()
    lose("")
    assert run("scan").returncode == 0
    pinned = (
        "SELECT v.version, v.package_path FROM skills AS s"
        " JOIN versions AS v ON v.id = s.pinned_version_id WHERE s.skill_id = 'approved'"
    )
    assert rows(CATALOG, pinned) == [(first, f"approved/{first}")]
    assert Path("var/skills/approved/SKILL.md").read_bytes() == before
    assert run("reconcile", "--check").returncode == 0
    assert run("unpin", "approved").returncode == 0
    assert Path("var/skills/approved/SKILL.md").read_bytes() != before
    assert second


def test_a_preference_outlives_the_catalog() -> None:
    """The preferred folder of two keeps the name."""
    run("approve", "waits")
    for folder in ("a", "b"):
        write_skill(Path("watched", folder, "same"), description=f"Lies in {folder}.")
    run("scan")
    for folder in ("a", "b"):
        run("approve", f"watched/{folder}/same")
    run("prefer", "watched/b/same")
    winner = "SELECT path FROM skills WHERE skill_id = 'same' AND status = 'active'"
    assert rows(CATALOG, winner) == [("b/same",)]
    lose("")
    assert run("scan").returncode == 0
    assert rows(CATALOG, winner) == [("b/same",)]
    assert run("reconcile", "--check").returncode == 0
