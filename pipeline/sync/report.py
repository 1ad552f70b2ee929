"""Report of a scan so far."""

from collections import Counter
from dataclasses import dataclass, field

from catalog.model.change import ChangeResult
from catalog.model.values import ChangeOutcome
from pipeline.roots.units import WatchUnit


@dataclass
class Report:
    """What a round has come to so far."""

    seen: int = 0  # skill folders
    outcomes: Counter[ChangeOutcome] = field(default_factory=Counter)
    changes: list[ChangeResult] = field(default_factory=list)  # all but "unchanged" and "held"
    unsettled: list[WatchUnit] = field(default_factory=list)  # folders to come back to
    no_room: dict[WatchUnit, str] = field(
        default_factory=dict
    )  # what could not be published, and why
    delayed: dict[WatchUnit, float] = field(default_factory=dict)  # … in how many seconds
    failures: dict[WatchUnit, str] = field(default_factory=dict)  # why some of these cannot be read
    troubles: dict[str, str] = field(default_factory=dict)  # why a root could not be read
    missed_by_events: int = 0
    held: dict[str, str] = field(default_factory=dict)  # why removals were held back, by root
    postponed: list[WatchUnit] = field(
        default_factory=list
    )  # gone while others of the root still go
