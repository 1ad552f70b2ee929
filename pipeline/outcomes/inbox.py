"""Inbox of outcome files."""

from pathlib import Path

from catalog.writing.store import Store
from pipeline.outcomes.collect import OutcomeReport, take_outcomes
from pipeline.outcomes.files import outcome_at
from pipeline.roots.units import WatchUnit
from pipeline.watch.settling import Settling


class OutcomeInbox:
    """Outcome files that events have hinted and that wait to be stored.

    now is in seconds on a monotonic clock, now_ns in nanoseconds since 1970.
    """

    def __init__(self, folder: Path, quiet: float, longest: float) -> None:
        """Take the outcomes folder and the settings of Settling, in seconds."""
        self._folder = folder
        self._quiet = quiet
        self._settle = Settling(quiet, longest)

    def hint(self, path: str, now: float) -> bool:
        """Record a hint at an absolute path; return whether the path belongs to the outcomes."""
        if outcome := outcome_at(self._folder, path):
            self._settle.hint(WatchUnit(str(self._folder), outcome), now)
        return outcome is not None or path == str(self._folder)

    def seconds_to_next(self, now: float) -> float:
        """Return the seconds until the next file is due; infinite if none waits."""
        return self._settle.seconds_to_next(now)

    def __len__(self) -> int:
        return len(self._settle)

    def take_due(self, store: Store, now: float, now_ns: int) -> OutcomeReport:
        """Store the files that have been quiet long enough."""
        due = self._settle.due(now)
        return self._take(store, due, now, now_ns) if due else OutcomeReport()

    def take_all(self, store: Store, now: float, now_ns: int) -> OutcomeReport:
        """Check every file, whether it was hinted or not."""
        return self._take(store, None, now, now_ns)

    def _take(
        self, store: Store, due: list[WatchUnit] | None, now: float, now_ns: int
    ) -> OutcomeReport:
        report = take_outcomes(
            store,
            self._folder,
            quiet=self._quiet,
            now_ns=now_ns,
            paths=None if due is None else [unit.path for unit in due],
        )
        self._settle.done(due or ())
        for path in report.unsettled:
            self._settle.hint(WatchUnit(str(self._folder), path), now)
        return report
