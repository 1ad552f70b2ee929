"""Record of failed work, with time as an argument."""

from datetime import UTC, datetime, timedelta

import pytest

from catalog.model.errors import Problem
from pipeline.service.heartbeat import FIRST_PAUSE, LONGEST_PAUSE, Troubles

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def at(now: float) -> datetime:
    """Return the time of day at a second of the monotonic clock."""
    return NOON + timedelta(seconds=now)


def test_pauses_become_longer_up_to_some_minutes() -> None:
    """Only for the part that fails; the others are tried meanwhile."""
    troubles, now, pauses = Troubles(), 0.0, []
    for _ in range(9):
        assert troubles.seconds_to_try("scan", now) == 0.0
        troubles.failed("scan", "No room.", now, at(now))
        pauses.append(troubles.seconds_to_try("scan", now))
        assert troubles.seconds_to_try("scan", now + pauses[-1] - 0.1) > 0.0
        assert troubles.seconds_to_try("indexes", now) == 0.0
        now += pauses[-1]
    assert pauses[:3] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert pauses[-2:] == [LONGEST_PAUSE, LONGEST_PAUSE]


def test_a_trouble_has_its_start_count_and_next_try() -> None:
    """They are times of day; a changed clock does not change the time of the next try."""
    troubles = Troubles()
    troubles.failed("scan", "No room.", 0.0, at(0.0))
    troubles.failed("scan", "No room.", 5.0, at(5.0))
    (one,) = troubles.all()
    assert (one.part, one.message, one.times) == ("scan", "No room.", 2)
    assert one.since == "2026-11-20T12:00:00.000+00:00"
    assert one.last_at == "2026-11-20T12:00:05.000+00:00"
    assert one.next_try_at == "2026-11-20T12:00:15.000+00:00"
    troubles.over("scan")
    assert troubles.all() == []


def test_a_trouble_is_logged_when_it_begins_changes_and_ends(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """However often work is retried, and however many parts fail for the same reason."""
    caplog.set_level("INFO")
    troubles = Troubles()
    for second in range(5):
        troubles.failed("scan", "No room.", float(second), at(second))
        troubles.failed("indexes", "No room.", float(second), at(second))
    troubles.failed("scan", "Read-only.", 9.0, at(9.0))
    troubles.over("indexes")
    troubles.over("scan")
    troubles.over("scan")
    assert [each.partition(" Trying")[0] for each in caplog.messages] == [
        "No room.",
        "Read-only.",
        "Resolved: No room.",
        "Resolved: Read-only.",
    ]


def test_a_part_with_its_own_retries_is_never_delayed() -> None:
    """It reports its own count, and only a new message is a change."""
    troubles = Troubles()
    troubles.reported("site", Problem("It ended.", 3, 7.0), 1.0, at(1.0))
    assert troubles.seconds_to_try("site", 1.0) == 0.0
    assert (troubles.all()[0].times, troubles.has_changed) == (3, True)
    troubles.has_changed = False
    troubles.reported("site", Problem("It ended.", 3, 7.0), 2.0, at(2.0))
    assert not troubles.has_changed
    troubles.over("site")
    assert troubles.has_changed


def test_a_failing_hook_is_logged_once_and_again_when_it_works(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its retries say nothing new."""
    caplog.set_level("INFO")
    troubles = Troubles()
    for times in (1, 2):
        troubles.reported("hook chat", Problem("No secret.", times, 7.0), 1.0, at(1.0))
    for _ in range(2):
        troubles.over("hook chat")
    assert caplog.messages == ["No secret.", "Resolved: No secret."]


def test_a_message_with_other_numbers_is_the_same_trouble(caplog: pytest.LogCaptureFixture) -> None:
    """The log does not repeat the room on a disk; health has the newest message."""
    troubles = Troubles()
    for now, what in ((0.0, "It has 12.5 MiB."), (5.0, "It has 1,012 MiB."), (15.0, "It is off.")):
        troubles.failed("scan", what, now, at(now))
        assert troubles.all()[0].message == what
    assert [record.getMessage().partition(" Trying")[0] for record in caplog.records] == [
        "It has 12.5 MiB.",
        "It is off.",
    ]


def test_a_mistake_in_one_part_is_a_trouble_of_that_part(caplog: pytest.LogCaptureFixture) -> None:
    """The log has its traceback once, and the part is tried again."""
    troubles = Troubles()

    def stumble() -> None:
        raise KeyError("spell")

    for _ in range(2):
        troubles.attempt("indexes", stumble, longest=1e-9)
    (one,) = troubles.all()
    assert (one.message, one.times) == ("Internal error: KeyError: 'spell'.", 2)
    assert caplog.text.count("Traceback") == 1
    troubles.attempt("indexes", lambda: None)
    assert not troubles.all()
