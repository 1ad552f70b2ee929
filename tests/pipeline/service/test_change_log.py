"""What a service says in its log."""

import pytest

from catalog.model.change import ChangeResult
from pipeline.outcomes.collect import OutcomeReport
from pipeline.service.change_log import ChangeLog
from pipeline.sync.report import Report


def test_a_trouble_is_told_once_until_it_is_over(caplog: pytest.LogCaptureFixture) -> None:
    """And again when it is back."""
    journal = ChangeLog()
    for troubles in ({"/r": "It is gone."}, {"/r": "It is gone."}, {}, {"/r": "It is gone."}):
        assert not journal.write(Report(troubles=dict(troubles)))
    assert caplog.messages == ["It is gone."] * 2


def test_changes_are_told_and_taken_out_of_the_report(caplog: pytest.LogCaptureFixture) -> None:
    """With nothing in them that a terminal would obey; who asks is told that there were some."""
    caplog.set_level("INFO")
    report = Report(
        changes=[ChangeResult("/r", "a\x1b[2J", "a", "rejected", "why")],
        held={"/r": "30 of 30 skills vanished at once"},
    )
    assert ChangeLog().write(report)
    assert (report.changes, report.held) == ([], {})
    assert caplog.messages[0].startswith("/r: 30 of 30 skills vanished at once; the skills are")
    assert caplog.messages[1] == "rejected a[U+001B][2J (why)"
    assert caplog.records[1].fields["path"] == "a\x1b[2J"  # type: ignore[attr-defined]


def test_outcome_files_are_told(caplog: pytest.LogCaptureFixture) -> None:
    """Those that were taken in, and those that were not with the reason."""
    caplog.set_level("INFO")
    ChangeLog().write_outcomes(OutcomeReport(stored=["a.json"], rejected={"b.json": "no JSON"}))
    assert caplog.messages == ["outcome a.json stored", "outcome b.json rejected: no JSON"]
