"""Log lines about changes, outcomes and troubles."""

import pytest

from catalog.model.change import Event
from pipeline.outcomes.collect import OutcomeReport
from pipeline.service.listeners import TroubleLog, log_changes, log_outcomes

REJECTED = Event(
    1,
    "2026-01-01T00:00:00.000+00:00",
    "rejected",
    "event",
    "/r",
    "a\x1b[2J",
    "a",
    "a",
    None,
    "why",
)


def test_a_trouble_is_logged_once_until_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged again if it comes back."""
    troubles = TroubleLog()
    for now in (["It is gone."], ["It is gone."], [], ["It is gone."]):
        troubles.log(now)
    assert caplog.messages == ["It is gone."] * 2


def test_a_change_is_logged_without_terminal_escapes(caplog: pytest.LogCaptureFixture) -> None:
    """The structured field keeps the path as it is."""
    caplog.set_level("INFO")
    log_changes([REJECTED])
    assert caplog.messages == ["rejected a[U+001B][2J (why)"]
    assert caplog.records[0].fields["path"] == "a\x1b[2J"  # type: ignore[attr-defined]


def test_held_removals_are_counted_by_reason(caplog: pytest.LogCaptureFixture) -> None:
    """One line for each root and reason, however many skills are held."""
    held = REJECTED._replace(outcome="held", detail="30 of 30 skills disappeared at once")
    log_changes([held] * 30)
    assert len(caplog.messages) == 1
    assert caplog.messages[0].startswith(
        "/r: 30 of 30 skills disappeared at once; the removal of 30 skills is held until"
    )


def test_a_skill_that_cannot_be_published_is_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The other results are information."""
    log_changes([REJECTED._replace(outcome="withheld", path="a")])
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_outcome_files_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Stored files, and rejected ones with the reason."""
    caplog.set_level("INFO")
    log_outcomes(OutcomeReport(stored=["a.json"], rejected={"b.json": "no JSON"}))
    assert caplog.messages == ["outcome a.json stored", "outcome b.json rejected: no JSON"]
    caplog.clear()
    log_outcomes(OutcomeReport(stored=["a.jsonl"] * 2, unlinked=["a.jsonl"], linked=1))
    assert caplog.messages == [
        "2 outcomes of a.jsonl stored",
        "outcome a.jsonl: the catalog does not have the skill or the version, or none is named",
        "1 earlier outcome linked to new skills",
    ]
