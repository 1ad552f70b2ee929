"""Log lines about changes of skills, run outcomes and unreadable roots."""

import logging
from collections import Counter
from collections.abc import Iterable, Sequence

from catalog.model.event import Event
from catalog.text import humanize
from catalog.text.visible import visible
from pipeline.outcomes.collect import OutcomeReport

log = logging.getLogger("skilldrop")


def log_changes(events: Sequence[Event]) -> None:
    """Log events, one line each; held removals are counted."""
    for event in events:
        if event.outcome == "held":
            continue
        detail = f" ({event.detail})" if event.detail else ""
        if event.is_conflict:
            detail += "; rename one of them, or choose with `skilldrop prefer PATH`"
        log.log(
            logging.WARNING if event.outcome == "withheld" or event.is_conflict else logging.INFO,
            "%s %s",
            event.outcome,
            visible(f"{event.path}{detail}"),
            extra={"fields": event._asdict()},
        )
    held = Counter((event.root, event.detail) for event in events if event.outcome == "held")
    for (root, reason), skills in held.items():
        log.warning(
            "%s: %s; the removal of %s is held until the folders are back or `skilldrop reconcile"
            " --accept-removals` confirms it",
            root,
            reason,
            humanize.count(skills, "skill"),
        )


def log_outcomes(report: OutcomeReport) -> None:
    """Log the outcomes that were stored or rejected, once for each file."""
    for path, count in Counter((*report.stored, *report.revised)).items():
        log.info("%s stored", _outcomes(path, count), extra={"fields": {"outcome_file": path}})
    for path, count in Counter(report.unlinked).items():
        log.warning(
            "%s: the catalog does not have the skill or the version, or none is named",
            _outcomes(path, count),
            extra={"fields": {"outcome_file": path}},
        )
    if report.linked:
        log.info("%s linked to new skills", humanize.count(report.linked, "earlier outcome"))
    for path, reason in report.rejected.items():
        log.warning(
            "outcome %s rejected: %s",
            visible(path),
            visible(reason),
            extra={"fields": {"outcome_file": path}},
        )


def _outcomes(path: str, count: int) -> str:
    return visible(f"outcome {path}" if count == 1 else f"{count} outcomes of {path}")


class TroubleLog:
    """Log of roots that cannot be read: one line for each trouble until it is over."""

    def __init__(self) -> None:
        """Start without troubles."""
        self._logged: set[str] = set()

    def log(self, troubles: Iterable[str]) -> None:
        """Log the troubles that the previous call did not have."""
        current = set(troubles)
        for trouble in sorted(current - self._logged):
            log.warning("%s", trouble)
        self._logged = current
