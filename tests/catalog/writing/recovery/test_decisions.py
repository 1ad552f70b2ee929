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


@pytest.mark.parametrize(
    ("mishap", "table", "kept"),
    [
        (lose, "", []),
        (damage, "reviews", []),
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


def test_lost_decisions_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """The log of a recovery without any decision says that all are lost."""
    damage("reviews")
    run("scan")
    assert "no decision of `skilldrop approve` and `reject` could be recovered" in caplog.text
