"""Changes that a scan found, stored in batches, and the report of their results."""

import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from catalog.model.change import Change, ChangeResult, Judged
from catalog.model.errors import OutOfRoom
from catalog.model.values import ChangeOutcome, Trigger
from catalog.writing.store import Store
from pipeline.roots import internal_errors
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

    def followed_by(self, later: "Report", again: Sequence[WatchUnit]) -> "Report":
        """Return the report of two scans, of which the second repeated unsettled folders."""
        repeated = set(again)  # an unsettled archive counted as one folder
        return replace(
            self,
            folders=self.folders + later.folders - len(repeated),
            outcomes=self.outcomes + later.outcomes,
            unsettled=(
                *(unit for unit in self.unsettled if unit not in repeated),
                *later.unsettled,
            ),
            failures={**self.failures, **later.failures},
            delayed={**self.delayed, **later.delayed},
            troubles={**self.troubles, **later.troubles},
        )


BATCH = 256
"""Most changes in one transaction: enough to spread its cost, few enough to stop soon."""
PAUSE = 0.5
"""Seconds after which a scan pauses even if its batch is not full."""


@dataclass(slots=True)
class Tally:
    """Mutable counterpart of the report while a scan runs."""

    folders: int = 0
    outcomes: Counter[ChangeOutcome] = field(default_factory=Counter)
    missed_by_events: int = 0
    unsettled: list[WatchUnit] = field(default_factory=list)
    failures: dict[WatchUnit, str] = field(default_factory=dict)
    delayed: dict[WatchUnit, float] = field(default_factory=dict)
    no_room: dict[WatchUnit, str] = field(default_factory=dict)
    postponed: tuple[WatchUnit, ...] = ()
    troubles: dict[str, str] = field(default_factory=dict)

    def note_unsettled(self, place: WatchUnit, failure: str | None) -> None:
        """Note a folder to scan again, and the reason if it could not be read."""
        self.unsettled.append(place)
        if failure:
            self.failures[place] = failure

    def report(self, troubles: Mapping[str, str]) -> Report:
        """Return the results so far; `troubles` are reasons why further roots cannot be read."""
        return Report(
            self.folders,
            +self.outcomes,
            self.missed_by_events,
            tuple(self.unsettled),
            dict(self.failures),
            dict(self.delayed),
            dict(self.no_room),
            self.postponed,
            {**troubles, **self.troubles},
        )


class ChangeBatches:
    """Changes that wait to be stored together."""

    def __init__(
        self,
        store: Store,
        trigger: Trigger,
        scan_id: int | None,
        was_announced: Callable[[ChangeResult], bool],
    ) -> None:
        """Take the arguments of the Synchronizer of the same names."""
        self._store = store
        self._trigger = trigger
        self._scan_id = scan_id
        self._was_announced = was_announced
        self._batch: list[Change] = []
        self._paused_at = time.monotonic()
        self.tally = Tally()
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
        for result in self._store_batch(batch):
            place = WatchUnit(result.root, result.path)
            if result.outcome == "unsettled":
                self.tally.note_unsettled(place, result.detail)
            elif result.outcome == "delayed":
                self.tally.delayed[place] = result.wait
            else:
                self.tally.outcomes[result.outcome] += 1
                if result.outcome != "unchanged":
                    self.tally.missed_by_events += not self._was_announced(result)

    def _store_batch(self, batch: Sequence[Change]) -> list[ChangeResult]:
        """Store a batch; if one change has no room or fails, store all others."""
        try:
            return self._apply(batch)
        except Exception as error:
            if not (isinstance(error, OutOfRoom) or _is_internal(error)):
                raise
            if len(batch) > 1:
                return [result for change in batch for result in self._store_batch([change])]
            if isinstance(error, OutOfRoom):
                self._note_no_room(batch[0], error)
                return []
            if isinstance(batch[0], Judged):
                return self._apply([_rejected(batch[0], error)])
            raise

    def _note_no_room(self, change: Change, error: OutOfRoom) -> None:
        self.no_room = self.no_room or error
        if isinstance(change, Judged):
            place = change.verdict.place
            self.tally.no_room[WatchUnit(place.root, place.path)] = str(error)

    def _apply(self, batch: Sequence[Change]) -> list[ChangeResult]:
        return self._store.apply(
            batch, trigger=self._trigger, at=datetime.now(UTC), scan=self._scan_id
        )


def _is_internal(error: Exception) -> bool:
    """Whether an error is a mistake of skilldrop, and tells neither of the disk nor of SQLite."""
    if isinstance(error, sqlite3.Error):
        return isinstance(error, (sqlite3.IntegrityError, sqlite3.ProgrammingError))
    return internal_errors.is_internal(error)


def _rejected(judged: Judged, error: Exception) -> Judged:
    """Return the change with a rejection for an error; the last good version stays."""
    verdict = judged.verdict
    return judged._replace(
        verdict=internal_errors.rejection(
            verdict.place, verdict.skill_id, verdict.name, verdict.fingerprint, error
        )
    )
