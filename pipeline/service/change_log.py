"""Log lines of the service about changes, and about each problem once."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from catalog.model.change import ChangeResult
from catalog.text.display import visible
from pipeline.outcomes.collect import OutcomeReport
from pipeline.sync.report import Report

log = logging.getLogger("skilldrop")


class ChangeLog:
    """Log of scan reports and outcome reports."""

    def __init__(self) -> None:
        self._logged: set[str] = set()  # problems that still exist

    def write(self, report: Report) -> bool:
        """Log and clear the problems and changes of a report; return whether it had changes."""
        self._write_problems(report.troubles.values())
        self._write_held(report.held)
        has_changes = bool(report.changes)
        self._write_changes(report.changes)
        report.troubles.clear()
        report.held.clear()
        report.changes.clear()
        return has_changes

    def write_outcomes(self, report: OutcomeReport) -> None:
        """Log the stored and the rejected outcome files."""
        for path in (*report.stored, *report.revised):
            log.info("outcome %s stored", visible(path), extra={"fields": {"outcome_file": path}})
        for path, why in report.rejected.items():
            log.warning(
                "outcome %s rejected: %s",
                visible(path),
                visible(why),
                extra={"fields": {"outcome_file": path}},
            )

    def _write_problems(self, problems: Iterable[str]) -> None:
        current = set(problems)
        for problem in sorted(current - self._logged):
            log.warning("%s", problem)
        self._logged = current

    def _write_held(self, held: Mapping[str, str]) -> None:
        for root, why in held.items():
            log.warning(
                "%s: %s; the skills are kept until they return or `skilldrop reconcile"
                " --accept-removals` confirms the removal",
                root,
                why,
            )

    def _write_changes(self, changes: Iterable[ChangeResult]) -> None:
        for change in changes:
            detail = f" ({change.detail})" if change.detail else ""
            log.info(
                "%s %s",
                change.outcome,
                visible(f"{change.path}{detail}"),
                extra={"fields": asdict(change)},
            )
