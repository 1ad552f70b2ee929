"""Report of a scan."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from catalog.model.values import ChangeOutcome
from pipeline.roots.units import WatchUnit


@dataclass(frozen=True, slots=True)
class Report:
    """Results of a scan, complete or so far."""

    folders: int = 0  # skill folders scanned
    outcomes: Counter[ChangeOutcome] = field(default_factory=Counter)
    missed_by_events: int = 0
    unsettled: tuple[WatchUnit, ...] = ()  # folders to scan again
    failures: Mapping[WatchUnit, str] = field(
        default_factory=dict
    )  # reasons why some of them are unread
    delayed: Mapping[WatchUnit, float] = field(default_factory=dict)  # seconds until the next scan
    no_room: Mapping[WatchUnit, str] = field(
        default_factory=dict
    )  # reasons why they were not published
    postponed: tuple[WatchUnit, ...] = ()  # missing, while other folders of the root still change
    troubles: Mapping[str, str] = field(default_factory=dict)  # reasons why roots cannot be read

    def followed_by(self, later: "Report", repeated: int) -> "Report":
        """Return the report of two scans, of which the second repeated folders of the first."""
        return replace(
            self,
            folders=self.folders + later.folders - repeated,
            outcomes=self.outcomes + later.outcomes,
            unsettled=later.unsettled,
            failures=later.failures,
            delayed={**self.delayed, **later.delayed},
            troubles={**self.troubles, **later.troubles},
        )
