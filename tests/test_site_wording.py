"""How the pages put it in words."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from catalog import told
from catalog.site import trees, wording

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def before(**passed: float) -> str:
    """Return a time as the catalog stores it."""
    return (NOW - timedelta(**passed)).isoformat(timespec="milliseconds")


def row(**said: Any) -> dict[str, Any]:
    """Return the health row of a service that runs, with other things said."""
    return {"service_pid": 1, "service_seen": before(seconds=1), "service_stopped": None,
            "last_full_scan": before(minutes=2), "watcher_mode": "native", "watcher_reason": None,
            "pending_count": 0, "held_removals": 0} | said


TROUBLE = [{"path": "/srv/skills", "trouble": "No such file or directory"}]


@pytest.mark.parametrize(("said", "troubles", "tone", "sentence"), [
    pytest.param({}, [], "good", "Watching, last full scan 2 minutes ago, nothing pending.",
                 id="well"),
    pytest.param({"pending_count": 3}, [], "good", "Watching, last full scan 2 minutes ago, "
                 "3 pending.", id="busy"),
    pytest.param({"watcher_mode": "polling", "watcher_reason": "a network share"}, [], "odd",
                 "Watching, last full scan 2 minutes ago, nothing pending.", id="polling"),
    pytest.param({"held_removals": 30}, [], "odd",
                 "Watching, last full scan 2 minutes ago, nothing pending.", id="held removals"),
    pytest.param({"service_seen": before(minutes=5)}, [], "bad",
                 "The service was last heard of 5 minutes ago; it may have been killed.",
                 id="killed"),
    pytest.param({"service_stopped": before(hours=1)}, [], "quiet",
                 "Not watching since 1 hour ago; last full scan 2 minutes ago.", id="stopped"),
    pytest.param({"service_pid": None, "last_full_scan": None}, [], "quiet",
                 "Not watching; no full scan yet.", id="never started"),
    pytest.param({}, TROUBLE, "bad", "Watching, last full scan 2 minutes ago, nothing pending.",
                 id="a root in trouble"),
    pytest.param({"service_stopped": before(hours=1)}, TROUBLE, "bad",
                 "Not watching since 1 hour ago; last full scan 2 minutes ago.",
                 id="stopped, and a root in trouble"),
])
def test_health_is_a_sentence(
    said: dict[str, Any], troubles: list[dict[str, str]], tone: str, sentence: str
) -> None:
    """It says what is the case and not what the columns are called."""
    found = told.health(row(**said), troubles, NOW)
    assert (found.tone, found.sentence) == (tone, sentence)
    assert found.is_well == (tone != "bad")
    assert found.is_followed == (tone in ("good", "odd") and not said.get("held_removals"))
    assert [detail for detail in found.details if "/srv/skills cannot be read" in detail] == (
        ["/srv/skills cannot be read: No such file or directory"] if troubles else [])


@pytest.mark.parametrize(("passed", "said"), [
    ({"seconds": 0}, "just now"), ({"seconds": -9}, "just now"),
    ({"seconds": 59}, "59 seconds ago"), ({"seconds": 60}, "1 minute ago"),
    ({"hours": 23}, "23 hours ago"), ({"days": 1}, "1 day ago"),
    ({"days": 40}, "1 month ago"), ({"days": 800}, "2 years ago"),
])
def test_times_are_told_in_their_largest_unit(passed: dict[str, float], said: str) -> None:
    """Also one that a clock set wrong puts into the future."""
    assert told.ago(before(**passed), NOW) == said


@pytest.mark.parametrize(("number", "said"), [
    (0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (123_456, "123 kB"), (5_000_000, "5.0 MB"),
    (7_000_000_000_000, "7000 GB"), (None, "?"),
])
def test_sizes_are_told_shortly(number: int | None, said: str) -> None:
    """In thousands, as people count."""
    assert wording.size(number) == said


def test_a_list_of_files_is_a_tree() -> None:
    """SKILL.md first, then files, then folders with what they hold in all."""
    files = [{"path": path, "size": size, "kind": kind} for path, size, kind in (
        ("LICENSE", 1, "other"), ("SKILL.md", 2, "skill_md"), ("a/b/c.txt", 3, "other"),
        ("a/d.txt", 4, "other"))]
    assert [(line.depth, line.name, line.size, line.file is None)
            for line in trees.grow(files)] == [
        (0, "SKILL.md", 2, False), (0, "LICENSE", 1, False), (0, "a", 7, True),
        (1, "d.txt", 4, False), (1, "b", 3, True), (2, "c.txt", 3, False)]
