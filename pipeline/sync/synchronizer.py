"""Synchronizer: the one way by which changes of the roots reach the catalog."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from catalog.model.change import Change, ChangeResult, Judged, Removal
from catalog.model.errors import OutOfRoom, RootUnreadable
from catalog.model.finding import Finding
from catalog.model.paths import top_of_archive
from catalog.model.skill import RootSpec
from catalog.model.values import ChangeOutcome, Trigger
from catalog.writing.store import Store
from catalog.writing.tables.removals import NO_ROOT
from catalog.writing.tables.skills import StoredSkill
from pipeline.roots import source
from pipeline.roots.local.descent import LooseFinding
from pipeline.roots.local.folder import Limits
from pipeline.roots.units import WatchUnit, outermost, with_archives
from pipeline.sync import lost_mounts
from pipeline.sync.engines.processes import Engine, serial
from pipeline.sync.engines.scanner import (
    NewFolder,
    ScanOptions,
    ScanScope,
    Unchanged,
    UnreadableDirectory,
    Unsettled,
)
from pipeline.sync.removals import RemovalDetector
from pipeline.sync.report import Report

BATCH = 512
"""Changes in one transaction at most: enough to spread its cost, few enough to stop soon."""
PAUSE = 0.5
"""Seconds after which a pause comes even if a batch is not full."""


@dataclass(slots=True)
class _Tally:
    """The report while it is being written."""

    seen: int = 0
    outcomes: Counter[ChangeOutcome] = field(default_factory=Counter)
    missed_by_events: int = 0
    unsettled: list[WatchUnit] = field(default_factory=list)
    failures: dict[WatchUnit, str] = field(default_factory=dict)
    delayed: dict[WatchUnit, float] = field(default_factory=dict)
    no_room: dict[WatchUnit, str] = field(default_factory=dict)
    postponed: tuple[WatchUnit, ...] = ()
    troubles: dict[str, str] = field(default_factory=dict)


class Synchronizer:
    """One scan of some units. `run` may be left after any batch: the catalog is whole then."""

    def __init__(
        self,
        store: Store,
        roots: Sequence[RootSpec],
        limits: Limits,
        *,
        quiet: float,
        trigger: Trigger,
        engine: Engine = serial,
        scan_id: int | None = None,
        deep: bool = False,
        was_announced: Callable[[ChangeResult], bool] = lambda _: True,
        still_settling: Collection[WatchUnit] = (),
        accepts_removals: bool = False,
    ) -> None:
        """Take the catalog, the configured roots, and how to scan; quiet is in seconds.

        was_announced tells whether events named a change before it was found. More events may
        come for the units in still_settling; accepts_removals turns the removal guard off.
        """
        self._tally = _Tally()
        self._store = store
        self._roots = {root.path: root for root in roots}
        self._how = ScanOptions(limits, quiet, deep)
        self._engine = engine
        self._trigger = trigger
        self._scan_id = scan_id
        self._was_announced = was_announced
        self._accepts_removals = accepts_removals
        self._missing = RemovalDetector(
            store,
            limits,
            trigger=trigger,
            scan_id=scan_id,
            still_settling=still_settling,
            accepts_removals=accepts_removals,
        )
        self._batch: list[Change] = []
        self._newcomers: dict[str, list[str]] = defaultdict(list)  # paths by root
        self._paused_at = time.monotonic()
        self._no_room: OutOfRoom | None = None

    @property
    def report(self) -> Report:
        """The results so far."""
        tally = self._tally
        return Report(
            tally.seen,
            +tally.outcomes,
            tally.missed_by_events,
            tuple(tally.unsettled),
            dict(tally.failures),
            dict(tally.delayed),
            dict(tally.no_room),
            tally.postponed,
            self._missing.troubles | tally.troubles,
        )

    def run(self, units: Sequence[WatchUnit]) -> Iterator[None]:
        """Bring the catalog up to the present content of the units.

        Where anything could have moved, folders at paths never seen before are read last, when
        it is known which old ones are gone: so a rename is told from a removal and an arrival.
        Raises OutOfRoom in the end where a batch was left, to be looked at again.
        """
        units = outermost(with_archives(units))
        roots = dict.fromkeys(unit.root for unit in units)
        for root in roots:
            lost_mounts.note_new(self._store, root)
        self._missing.scanned = units
        known = {unit: self._store.skills.known(*unit) for unit in units}
        how = replace(self._how, new_folders=not any(known.values()))
        for unit, folders in known.items():
            yield from self._survey(unit, folders, how)
        yield from self._read_newcomers()
        self._apply()
        decision = self._missing.decide()
        self._tally.outcomes["held"] += decision.held
        self._tally.postponed = decision.postponed
        yield from self.remove(decision.removed)
        troubles = self.report.troubles
        for root in roots:
            self._store.roots.set_trouble(root, troubles.get(root))
        if self._no_room:  # the rest was done: what is removed makes room
            raise self._no_room

    def leave(self, root: str, paths: Sequence[str]) -> Iterator[None]:
        """Hold what the catalog has of a root that is no longer configured, or remove it."""
        if self._accepts_removals:
            yield from self.remove([WatchUnit(root, path) for path in paths])
        else:
            self._tally.outcomes["held"] += self._missing.hold(root, paths, NO_ROOT)

    def remove(self, places: Sequence[WatchUnit]) -> Iterator[None]:
        """Mark the skills in places as removed."""
        for place in places:
            self._batch.append(Removal(*place, source.leads_out(*place)))
            yield from self._pause()
        self._apply()

    def _survey(
        self, unit: WatchUnit, known: Mapping[str, StoredSkill], how: ScanOptions
    ) -> Iterator[None]:
        """Look at a unit and note what is missing there."""
        missing = dict(known)
        strays: list[tuple[str, Finding]] = []
        hidden: list[WatchUnit] = []
        settled: list[str] = []
        part = ScanScope(
            self._roots[unit.root],
            (unit.path,),
            {path: row.fingerprint for path, row in known.items()},
        )
        try:
            for seen in self._engine(part, how):
                if isinstance(seen, LooseFinding):
                    if WatchUnit(unit.root, seen.path).lies_in(
                        unit
                    ):  # not one met on the way there
                        strays.append((seen.path, seen.finding))
                elif isinstance(seen, UnreadableDirectory):
                    hidden.append(WatchUnit(unit.root, seen.path))
                elif seen:
                    path = self._take(unit.root, seen, is_new=_path_of(seen) not in known)
                    if not isinstance(seen, NewFolder):
                        missing.pop(path, None)
                    if isinstance(seen, Unchanged) and known[seen.path].is_pending:
                        settled.append(seen.path)
                yield from self._pause()
        except RootUnreadable as error:
            self._tally.troubles[unit.root] = str(error)
            if not source.can_list(unit.root):
                self._missing.lose(unit.root, known)
            return
        self._store.skills.set_loose_findings(*unit, strays)
        if settled:
            self._store.skills.clear_pending(unit.root, settled)
        for path, row in missing.items():
            place = WatchUnit(unit.root, path)
            if not any(place.lies_in(directory) for directory in hidden):
                self._missing.add(place, row)

    def _read_newcomers(self) -> Iterator[None]:
        for root, paths in self._newcomers.items():
            new = set(paths)
            # Of an archive that is not as it was, all that was known in it is still missing.
            part = ScanScope(
                self._roots[root],
                tuple(unit.path for unit in outermost([WatchUnit(root, path) for path in paths])),
                self._missing.in_archives(root, new),
            )
            try:
                for seen in self._engine(part, self._how):
                    # A skill inside a newcomer may be an old one, which has been seen.
                    if (
                        seen
                        and not isinstance(seen, (LooseFinding, UnreadableDirectory))
                        and (not new.isdisjoint((path := _path_of(seen), top_of_archive(path))))
                    ):
                        self._take(root, seen, is_new=not self._missing.find(WatchUnit(root, path)))
                    yield from self._pause()
            except RootUnreadable as error:
                self._tally.troubles[root] = str(error)

    def _take(
        self, root: str, seen: Unchanged | Unsettled | NewFolder | Judged, *, is_new: bool
    ) -> str:
        """Note what a folder was seen to be, and return its path."""
        path = _path_of(seen)
        if isinstance(seen, NewFolder):
            self._newcomers[root].append(path)
            return path
        self._tally.seen += 1
        if isinstance(seen, Unchanged):
            self._tally.outcomes["unchanged"] += 1
        elif isinstance(seen, Unsettled):
            self._tally.unsettled.append(WatchUnit(root, path))
            if seen.why:
                self._tally.failures[WatchUnit(root, path)] = seen.why
        else:
            if is_new:
                seen = seen._replace(moved_from=self._missing.claim(seen.verdict.digest, path))
            self._batch.append(seen)
        return path

    def _pause(self) -> Iterator[None]:
        """Pause when a batch is full, or the last pause is some time ago."""
        if len(self._batch) >= BATCH or time.monotonic() - self._paused_at >= PAUSE:
            self._apply()
            yield
            self._paused_at = time.monotonic()

    def _apply(self) -> None:
        batch, self._batch = self._batch, []
        for one in self._applied(batch):
            if one.outcome == "unsettled":
                self._tally.unsettled.append(WatchUnit(one.root, one.path))
                if one.detail:
                    self._tally.failures[WatchUnit(one.root, one.path)] = one.detail
                continue
            if one.outcome == "delayed":
                self._tally.delayed[WatchUnit(one.root, one.path)] = one.wait
                continue
            self._tally.outcomes[one.outcome] += 1
            if one.outcome != "unchanged":
                self._tally.missed_by_events += not self._was_announced(one)

    def _applied(self, batch: Sequence[Change]) -> list[ChangeResult]:
        """Take in a batch; where there is not room for all of it, as much as there is room for."""
        try:
            return self._store.apply(
                batch, trigger=self._trigger, at=datetime.now(UTC), scan=self._scan_id
            )
        except OutOfRoom as error:
            if len(batch) > 1:
                return [one for change in batch for one in self._applied([change])]
            self._no_room = self._no_room or error
            if isinstance(batch[0], Judged):
                place = batch[0].verdict.place
                self._tally.no_room[WatchUnit(place.root, place.path)] = str(error)
            return []


def _path_of(seen: Unchanged | Unsettled | NewFolder | Judged) -> str:
    return seen.verdict.place.path if isinstance(seen, Judged) else seen.path


def can_list_all(roots: Sequence[RootSpec]) -> bool:
    """Tell whether every root is there, so that what is not found in one has gone."""
    return all(source.can_list(root.path) for root in roots)
