"""Changes that a scan found, stored in batches, and the report of their results."""

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from catalog.model.change import Change, ChangeResult, Judged
from catalog.model.errors import OutOfRoom
from catalog.model.skill import RootSpec
from catalog.model.values import ChangeOutcome, Trigger
from catalog.writing.rows import derived
from catalog.writing.store import Store
from pipeline.roots import internal_errors
from pipeline.roots.local.folder import Limits
from pipeline.service.scanning.engines import Engine, serial
from pipeline.watch.settling import WatchUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class ScanPlan:
    """Everything that a scan works with."""

    store: Store
    roots: Sequence[RootSpec]
    limits: Limits
    quiet: float  # seconds for which a folder must not have changed
    trigger: Trigger
    engine: Engine = serial
    deep: bool = False  # every file is read and hashed, even in unchanged folders
    scan_id: int | None = None  # of its row in `scans`
    accepts_removals: bool = False  # turns the removal guard off
    was_announced: Callable[[ChangeResult], bool] = lambda _: True
    """Returns whether events named a change before the scan found it."""
    still_settling: Collection[WatchUnit] = ()  # units for which more events may follow


@dataclass(slots=True)
class Report:
    """Results of a scan, complete or so far."""

    folders: int = 0  # skill folders scanned
    outcomes: Counter[ChangeOutcome] = field(default_factory=Counter)
    missed_by_events: int = 0
    unsettled: list[WatchUnit] = field(default_factory=list)  # folders to scan again
    failures: dict[WatchUnit, str] = field(default_factory=dict)
    """Reasons why some of them are unread."""
    delayed: dict[WatchUnit, str] = field(default_factory=dict)
    """Reasons why changes of folders were not stored."""
    postponed: list[WatchUnit] = field(default_factory=list)
    """Missing folders, while others of the root still change."""
    troubles: dict[str, str] = field(default_factory=dict)  # reasons why roots cannot be read

    def note_unsettled(self, place: WatchUnit, failure: str | None) -> None:
        """Note a folder to scan again, and the reason if it could not be read."""
        self.unsettled.append(place)
        if failure:
            self.failures[place] = failure

    def followed_by(self, later: "Report", again: Sequence[WatchUnit]) -> "Report":
        """Return the report of two scans; the second one repeated unsettled folders."""
        repeated = set(again)  # an unsettled archive counted as one folder
        return replace(
            self,
            folders=self.folders + later.folders - len(repeated),
            outcomes=self.outcomes + later.outcomes,
            unsettled=[unit for unit in self.unsettled if unit not in repeated] + later.unsettled,
            failures=self.failures | later.failures,
            delayed=self.delayed | later.delayed,
            troubles=self.troubles | later.troubles,
        )


BATCH = 256
"""Most changes in one transaction: enough to spread its cost, few enough to stop soon."""
PAUSE = 0.5
"""Seconds after which a scan pauses even if its batch is not full."""


class ChangeBatches:
    """Changes that wait to be stored together."""

    def __init__(self, plan: ScanPlan, report: Report) -> None:
        self._plan = plan
        self._report = report
        self._batch: list[Change] = []
        self._paused_at = time.monotonic()
        self.no_room: OutOfRoom | None = None
        """The first error of a change for which there was no room."""

    def add(self, change: Change) -> None:
        """Add a change to the batch."""
        self._batch.append(change)

    def pause(self) -> Iterator[None]:
        """Store the batch and pause if it is full or the last pause was PAUSE seconds ago."""
        if len(self._batch) >= BATCH or time.monotonic() - self._paused_at >= PAUSE:
            self.flush()
            yield
            self._paused_at = time.monotonic()

    def flush(self) -> None:
        """Store the batch and count its results."""
        batch, self._batch = self._batch, []
        for result in self._stored(batch):
            place = WatchUnit(result.root, result.path)
            if result.outcome == "unsettled":
                self._report.note_unsettled(place, result.detail)
            else:
                self._report.outcomes[result.outcome] += 1
                if result.outcome != "unchanged" and not self._plan.was_announced(result):
                    self._report.missed_by_events += 1

    def _stored(self, batch: Sequence[Change]) -> list[ChangeResult]:
        """Store a batch; if one change has no room or fails, store all others."""
        try:
            return self._apply(batch)
        except Exception as error:
            if not (isinstance(error, OutOfRoom) or _is_internal(error)):
                raise
            if len(batch) > 1:
                return [result for change in batch for result in self._stored([change])]
            judged = batch[0] if isinstance(batch[0], Judged) else None
            if isinstance(error, OutOfRoom):
                self.no_room = self.no_room or error
                if judged:
                    root, path, *_ = judged.verdict.place
                    self._report.delayed[WatchUnit(root, path)] = str(error)
                return []
            if judged:
                return self._apply([_rejected(judged, error)])
            place = WatchUnit(*batch[0].places[0])
            self._report.delayed[place] = internal_errors.noted("/".join(place), error).message
            return []

    def _apply(self, batch: Sequence[Change]) -> list[ChangeResult]:
        plan = self._plan
        return plan.store.apply(
            batch, trigger=plan.trigger, at=datetime.now(UTC), scan=plan.scan_id
        )


def _is_internal(error: Exception) -> bool:
    """Whether an error is a mistake of skilldrop, not a problem of the disk or of SQLite."""
    if isinstance(error, sqlite3.Error):
        return isinstance(error, (sqlite3.IntegrityError, sqlite3.ProgrammingError))
    return internal_errors.is_internal(error)


def _rejected(judged: Judged, error: Exception) -> Judged:
    """Return the change with a rejection for an error; the last good version stays."""
    verdict = judged.verdict
    rejection = internal_errors.rejection(
        verdict.place, verdict.skill_id, verdict.name, verdict.fingerprint, error
    )
    rejected = derived.judged(rejection, judged.steps, judged.started_at, judged.took_ms)
    return rejected._replace(moved_from=judged.moved_from)
