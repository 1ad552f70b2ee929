"""Log lines of the service about changes, and about each trouble once."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from catalog.model.change import ChangeResult
from catalog.text.display import visible
from pipeline.outcomes.collect import OutcomeReport
from pipeline.sync.report import Report

log = logging.getLogger("skilldrop")


class ChangeLog:
    """Takes what was found out of reports and logs it."""

    def __init__(self) -> None:
        self._told: set[str] = set()  # troubles that were logged

    def tell(self, report: Report) -> bool:
        """Log changes and troubles, and tell whether there were changes; both are then cleared."""
        self._tell_troubles(report.troubles.values())
        self._tell_held(report.held)
        has_changes = bool(report.changes)
        self._tell_changes(report.changes)
        report.troubles.clear()
        report.held.clear()
        report.changes.clear()
        return has_changes

    def tell_outcomes(self, report: OutcomeReport) -> None:
        """Log which outcome files were taken in, and which were not."""
        for path in (*report.stored, *report.revised):
            log.info("outcome %s", visible(path), extra={"fields": {"outcome_file": path}})
        for path, why in report.rejected.items():
            log.warning(
                "outcome %s rejected: %s",
                visible(path),
                visible(why),
                extra={"fields": {"outcome_file": path}},
            )

    def _tell_troubles(self, troubles: Iterable[str]) -> None:
        now = set(troubles)
        for trouble in sorted(now - self._told):
            log.warning("%s", trouble)
        self._told = now

    def _tell_held(self, held: Mapping[str, str]) -> None:
        for root, why in held.items():
            log.warning(
                "%s: %s; the skills are kept until they are back or `skilldrop reconcile"
                " --accept-removals` confirms the removal",
                root,
                why,
            )

    def _tell_changes(self, changes: Iterable[ChangeResult]) -> None:
        for one in changes:
            detail = f" ({one.detail})" if one.detail else ""
            log.info(
                "%s %s", one.outcome, visible(f"{one.path}{detail}"), extra={"fields": asdict(one)}
            )
