"""Texts for health, durations, reasons and file trees."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from catalog.reading import service_health
from catalog.site.pages import skill
from catalog.site.rendering import formatting

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


def before(**passed: float) -> str:
    """Return a time as the catalog stores it."""
    return (NOW - timedelta(**passed)).isoformat(timespec="milliseconds")


def row(**said: Any) -> dict[str, Any]:
    """Return the health row of a running service, with some values replaced."""
    return {
        "service_pid": 1,
        "service_seen": before(seconds=1),
        "service_stopped": None,
        "last_full_scan": before(minutes=2),
        "next_full_scan": None,
        "watcher_mode": "native",
        "watcher_reason": None,
        "pending_count": 0,
    } | said


def held(skills: int, why: str = "30 of 40 skills disappeared at once") -> dict[str, Any]:
    """Return the held removals of the catalog."""
    return {"held": [{"root": "/a", "reason": why, "skills": skills}]}


EMPTY: dict[str, Any] = {
    "is_locked": True,
    "health": row(),
    "roots": [],
    "held": [],
    "withheld": [],
    "internal_errors": 0,
    "name_conflicts": 0,
    "unlinked_outcomes": {"of_no_skill": 0, "of_no_version": 0},
    "rejected_outcomes": 0,
    "to_review": 0,
    "dangers_waiting": 0,
    "dangers_served": 0,
    "troubles": [],
}
ROOT = {"path": "/srv/skills", "trouble": "No such file or directory"}
FULL = {
    "part": "indexes",
    "message": "There is no room left.",
    "since": before(minutes=3),
    "times": 4,
    "last_at": before(seconds=20),
    "next_try_at": (NOW + timedelta(seconds=20)).isoformat(timespec="milliseconds"),
}


@pytest.mark.parametrize(
    ("said", "found", "tone", "sentence"),
    [
        pytest.param(
            {}, {}, "good", "Watching, last full scan 2 minutes ago, up to date.", id="well"
        ),
        pytest.param(
            {"next_full_scan": before(minutes=-3)},
            {},
            "good",
            "Watching, last full scan 2 minutes ago, next 3 minutes from now, up to date.",
            id="timed",
        ),
        pytest.param(
            {"pending_count": 3},
            {},
            "good",
            "Watching, last full scan 2 minutes ago, taking in 3 changes.",
            id="busy",
        ),
        pytest.param(
            {"watcher_mode": "polling", "watcher_reason": "a network share"},
            {},
            "odd",
            "Watching, last full scan 2 minutes ago, up to date.",
            id="polling",
        ),
        pytest.param(
            {},
            held(30),
            "bad",
            "Watching, last full scan 2 minutes ago, 30 removals held.",
            id="held removals",
        ),
        pytest.param(
            {"pending_count": 2},
            held(1) | {"roots": [ROOT]},
            "bad",
            "Watching, last full scan 2 minutes ago, taking in 2 changes, 1 removal held.",
            id="pending and held",
        ),
        pytest.param(
            {"service_seen": before(minutes=5)},
            {},
            "bad",
            "The service was last heard of 5 minutes ago; it may have been killed, or cannot "
            "write to its data directory.",
            id="killed",
        ),
        pytest.param(
            {},
            {"is_locked": False},
            "bad",
            "The service was last heard of a second ago; it has ended without being stopped.",
            id="killed a moment ago",
        ),
        pytest.param(
            {"service_seen": before(minutes=-50)},
            {},
            "bad",
            "The service was last heard of before the clock was set back; it may have been "
            "killed, or cannot write to its data directory.",
            id="killed, and the clock set back",
        ),
        pytest.param(
            {"service_stopped": before(hours=1)},
            {"troubles": [FULL]},
            "quiet",
            "Not watching (stopped an hour ago); last full scan 2 minutes ago.",
            id="stopped",
        ),
        pytest.param(
            {"service_pid": None, "last_full_scan": None},
            {},
            "quiet",
            "Not watching; no full scan yet.",
            id="never started",
        ),
        pytest.param(
            {},
            {"roots": [ROOT]},
            "bad",
            "Watching, last full scan 2 minutes ago, needs attention.",
            id="a root in trouble",
        ),
        pytest.param(
            {},
            {"troubles": [FULL]},
            "bad",
            "Watching, last full scan 2 minutes ago, needs attention.",
            id="failed work",
        ),
        pytest.param(
            {"service_stopped": before(hours=1)},
            {"roots": [ROOT]},
            "bad",
            "Not watching (stopped an hour ago); last full scan 2 minutes ago.",
            id="stopped, and a root in trouble",
        ),
    ],
)
def test_health_is_a_sentence(
    said: dict[str, Any], found: dict[str, Any], tone: str, sentence: str
) -> None:
    """The sentence describes the state without naming columns."""
    health = service_health.summary(EMPTY | {"health": row(**said)} | found, NOW)
    assert (health.tone, health.sentence) == (tone, sentence)
    assert health.is_well == (tone != "bad")
    assert health.is_followed == (tone in ("good", "odd"))
    if found.get("roots"):
        assert "/srv/skills: No such file or directory" in health.details


def test_failed_work_says_when_it_is_tried_again() -> None:
    """The detail names the failed part, the reason, the number of failures and their start."""
    health = service_health.summary(EMPTY | {"troubles": [FULL]}, NOW)
    (detail,) = health.details
    assert detail == (
        "Publishing the prompt indexes: There is no room left. Failed 4 times, first"
        " 3 minutes ago; next try 20 seconds from now."
    )
    assert health.troubles == (FULL,)


def test_folders_on_which_skilldrop_failed_are_no_trouble_of_the_service() -> None:
    """A sentence counts them, and nobody can make the whole service look ill with one folder."""
    health = service_health.summary(EMPTY | {"internal_errors": 2}, NOW)
    assert health.tone == "good"
    assert "skilldrop itself failed on 2 folders" in health.details[0]


def test_a_root_is_called_what_its_trouble_says() -> None:
    """One whose skills are held is not called unreadable, and one that is named is named once."""
    roots = [{"path": "/b", "trouble": "The root /b cannot be listed: Permission denied."}]
    health = service_health.summary(
        EMPTY | held(1, "nothing is mounted any more at /a/disk") | {"roots": roots}, NOW
    )
    denied, kept = health.details
    assert denied == "The root /b cannot be listed: Permission denied."
    assert kept == (
        "/a: 1 skill is gone but kept (nothing is mounted any more at /a/disk). Bring the folders "
        "back, or confirm their removal with `skilldrop reconcile --accept-removals`."
    )


@pytest.mark.parametrize(
    ("number", "text"), [(0.5, "500 μs"), (1500, "1.50 s"), (None, "unfinished")]
)
def test_work_that_was_cut_short_has_no_duration(number: float | None, text: str) -> None:
    """The catalog has no milliseconds for it."""
    assert formatting.milliseconds(number) == text


@pytest.mark.requirement("prd/page-files")
def test_a_list_of_files_is_a_tree() -> None:
    """SKILL.md comes first, then files, then folders with their total sizes."""
    files = [
        {"path": path, "size": size, "kind": kind}
        for path, size, kind in (
            ("LICENSE", 1, "other"),
            ("SKILL.md", 2, "skill_md"),
            ("a/b/c.txt", 3, "other"),
            ("a/d.txt", 4, "other"),
        )
    ]
    assert [
        (line.depth, line.name, line.size, line.file is None) for line in skill.grow(files)
    ] == [
        (0, "SKILL.md", 2, False),
        (0, "LICENSE", 1, False),
        (0, "a", 7, True),
        (1, "d.txt", 4, False),
        (1, "b", 3, True),
        (2, "c.txt", 3, False),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Counts words.", ""),
        ("", ""),
        ("把会议录音整理成纪要。", "zh"),
        ("SwiftUI の状態管理とナビゲーションのベストプラクティス。", "ja"),
        ("문서의 단어 수를 셉니다.", "ko"),
        ("Renders 中文 in a long English description of a skill.", ""),
        ("Café ñandú über", ""),
    ],
)
def test_a_text_is_of_the_language_that_most_of_it_is(text: str, expected: str) -> None:
    """A few foreign words do not change it."""
    assert formatting.attribute(text) == (f' lang="{expected}"' if expected else "")
