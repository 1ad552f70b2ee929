"""Synchronizer: the only path from changes in the roots to the catalog."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from catalog.model.change import ChangeResult, Judged, Removal
from catalog.model.errors import RootUnreadable
from catalog.model.finding import Finding
from catalog.model.paths import top_of_archive
from catalog.model.skill import LOST_ROOT, Rejection, RootSpec
from catalog.model.values import Trigger
from catalog.writing.store import Store
from catalog.writing.tables.removals import NO_FOLDER, NO_ROOT
from catalog.writing.tables.skills import KnownSkills
from pipeline.roots import source
from pipeline.roots.local.folder import Limits
from pipeline.roots.local.tree_walk import LooseFinding
from pipeline.roots.units import WatchUnit, outermost, with_archives
from pipeline.service.scanning import removals
from pipeline.service.scanning.change_batches import ChangeBatches, Report
from pipeline.service.scanning.engines import Engine, serial
from pipeline.service.scanning.removals import RemovalDetector
from pipeline.service.scanning.results import (
    NewFolder,
    ScanOptions,
    ScanResult,
    ScanScope,
    Unchanged,
    UnreadableDirectory,
    Unsettled,
)

_FolderResult: TypeAlias = Unsettled | NewFolder | Judged


@dataclass(slots=True)
class _UnitScan:
    """Results of one unit that are stored when its scan is complete."""

    missing: set[str]
    loose_findings: list[tuple[str, Finding]] = field(default_factory=list)
    unreadable: list[WatchUnit] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)  # unchanged, but stored as pending


class Synchronizer:
    """One scan of some units. `run` may stop after any batch and leaves the catalog consistent."""

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
        """Take the catalog, the configured roots and the scan options; quiet is in seconds.

        was_announced returns whether events named a change before the scan found it. More events
        may follow for the units in still_settling. accepts_removals turns the removal guard off.
        """
        self._store = store
        self._batches = ChangeBatches(store, trigger, scan_id, was_announced)
        self._tally = self._batches.tally
        self._roots = {root.path: root for root in roots}
        self._options = ScanOptions(limits, quiet, deep)
        self._engine = engine
        self._still_settling = still_settling
        self._accepts_removals = accepts_removals
        self._removals = RemovalDetector(
            store,
            limits,
            trigger=trigger,
            scan_id=scan_id,
            still_settling=still_settling,
            accepts_removals=accepts_removals,
        )
        self._new_folders: dict[str, list[str]] = defaultdict(list)  # paths by root
        self._lost = store.takeover.skills()
        self._changed: list[Judged] = []  # new folders of lost skills, with other content

    @property
    def report(self) -> Report:
        """The results so far."""
        return self._tally.report(self._removals.troubles)

    def run(self, units: Sequence[WatchUnit]) -> Iterator[None]:
        """Bring the catalog up to the present content of the units.

        If the catalog knows folders in the units, new folders are read last, when the missing ones
        are known: so a rename differs from a removal and an addition.
        Raises OutOfRoom at the end if some changes did not fit; they need another scan.
        """
        units = outermost(with_archives(units))
        roots = dict.fromkeys(unit.root for unit in units)
        for root in roots:
            removals.note_new(self._store, root)
        self._removals.scanned = units
        known = {unit: self._store.skills.known(*unit) for unit in units}
        options = replace(
            self._options, new_folders=not any(skills.fingerprints for skills in known.values())
        )
        for unit, skills in known.items():
            yield from self._scan_unit(unit, skills, options)
        yield from self._read_new_folders()
        self._give_to_changed()
        self._batches.flush()
        decision = self._removals.decide()
        self._tally.outcomes["held"] += decision.held
        self._tally.postponed = decision.postponed
        yield from self.remove(decision.removed)
        troubles = self.report.troubles
        for root in roots:
            self._store.roots.set_trouble(root, troubles.get(root))
        if self._batches.no_room:  # raised last: removals free space
            raise self._batches.no_room

    def leave(self, root: str, paths: Sequence[str], *, removes: bool = False) -> Iterator[None]:
        """Hold the removal of skills whose root is not configured, or remove them."""
        if removes or self._accepts_removals:
            yield from self.remove([WatchUnit(root, path) for path in paths])
        else:
            reason = NO_FOLDER if root == LOST_ROOT else NO_ROOT
            self._tally.outcomes["held"] += self._removals.hold(root, paths, reason)

    def remove(self, places: Sequence[WatchUnit]) -> Iterator[None]:
        """Mark the skills in places as removed."""
        for place in places:
            self._batches.add(Removal(*place, source.leads_out(*place)))
            yield from self._batches.pause()
        self._batches.flush()

    def _scan_unit(
        self, unit: WatchUnit, known: KnownSkills, options: ScanOptions
    ) -> Iterator[None]:
        """Scan a unit and note its missing folders."""
        unit_scan = _UnitScan(set(known.fingerprints))
        scope = ScanScope(self._roots[unit.root], (unit.path,), known.fingerprints, known.stats)
        try:
            for result in self._engine(scope, options):
                if result:
                    self._sort(result, unit, known, unit_scan)
                yield from self._batches.pause()
        except RootUnreadable as error:
            self._tally.troubles[unit.root] = str(error)
            if not source.can_list(unit.root):
                self._removals.add_root(unit.root, known)
            return
        self._finish_unit(unit, known, unit_scan)

    def _sort(
        self,
        result: ScanResult,
        unit: WatchUnit,
        known: KnownSkills,
        unit_scan: _UnitScan,
    ) -> None:
        if isinstance(result, Unchanged):
            self._note_unchanged(result.paths)
            unit_scan.missing.difference_update(result.paths)
            self._store.skills.set_stats(unit.root, result.stats)
            unit_scan.settled += (path for path in result.paths if path in known.pending)
        elif isinstance(result, LooseFinding):
            # A scan also yields the findings on the way down to the unit.
            if WatchUnit(unit.root, result.path).lies_in(unit):
                unit_scan.loose_findings.append((result.path, result.finding))
        elif isinstance(result, UnreadableDirectory):
            unit_scan.unreadable.append(WatchUnit(unit.root, result.path))
        else:
            path = self._note(unit.root, result, is_new=_path_of(result) not in known.fingerprints)
            if not isinstance(result, NewFolder):
                unit_scan.missing.discard(path)

    def _finish_unit(self, unit: WatchUnit, known: KnownSkills, unit_scan: _UnitScan) -> None:
        self._store.skills.set_loose_findings(
            *unit,
            [
                (path, finding)
                for path, finding in unit_scan.loose_findings
                # What still settles may not be copied in full; its own scan follows.
                if not any(WatchUnit(unit.root, path).lies_in(u) for u in self._still_settling)
            ],
        )
        if unit_scan.settled:
            self._store.skills.clear_pending(unit.root, unit_scan.settled)
        missing = [
            path
            for path in sorted(unit_scan.missing)
            if not any(WatchUnit(unit.root, path).lies_in(place) for place in unit_scan.unreadable)
        ]
        self._removals.add(unit.root, missing, known)

    def _read_new_folders(self) -> Iterator[None]:
        for root, paths in self._new_folders.items():
            new = set(paths)
            tops = outermost([WatchUnit(root, path) for path in paths])
            # If an archive changed, all of its known skills are still missing.
            known = self._removals.in_archives(root, new)
            scope = ScanScope(self._roots[root], tuple(unit.path for unit in tops), known)
            try:
                for result in self._engine(scope, self._options):
                    if result:
                        self._sort_new(root, result, new)
                    yield from self._batches.pause()
            except RootUnreadable as error:
                self._tally.troubles[root] = str(error)

    def _sort_new(self, root: str, result: ScanResult, new: Collection[str]) -> None:
        """Note a result in a new folder; a skill inside may be a known one, already scanned."""
        if isinstance(result, Unchanged):
            paths = [path for path in result.paths if _is_among(path, new)]
            for path in paths:
                self._removals.discard(WatchUnit(root, path))
            self._note_unchanged(paths)
        elif not isinstance(result, (LooseFinding, UnreadableDirectory)):
            path = _path_of(result)
            if _is_among(path, new):
                is_new = not self._removals.discard(WatchUnit(root, path))
                self._note(root, result, is_new=is_new)

    def _note(self, root: str, result: _FolderResult, *, is_new: bool) -> str:
        """Note the result for a folder, and return its path."""
        path = _path_of(result)
        if isinstance(result, NewFolder):
            self._new_folders[root].append(path)
            return path
        self._tally.folders += 1
        if isinstance(result, Unsettled):
            self._tally.note_unsettled(WatchUnit(root, path), result.failure)
            return path
        if is_new:
            moved_from = self._removals.claim(result.verdict.digest, path)
            lost = self._lost.get(result.verdict.skill_id)
            if lost and not moved_from:
                if lost.digest != result.verdict.digest:
                    self._changed.append(result)
                    return path
                moved_from = self._found(result.verdict.skill_id)
            result = result._replace(moved_from=moved_from)
        self._batches.add(result)
        return path

    def _found(self, skill_id: str) -> WatchUnit | None:
        """Return the place of a lost skill whose folder was found; None if it is not lost."""
        lost = self._lost.pop(skill_id, None)
        return WatchUnit(LOST_ROOT, lost.path) if lost else None

    def _give_to_changed(self) -> None:
        """Let new folders have the lost skills whose content no folder has.

        Those with accepted content come first, and of these the preferred ones.
        """
        preferred = self._store.decisions.kept().preferences if self._changed else {}

        def order(judged: Judged) -> tuple[bool, bool]:
            return isinstance(judged.verdict, Rejection), judged.places[0] not in preferred

        for judged in sorted(self._changed, key=order):
            self._batches.add(judged._replace(moved_from=self._found(judged.verdict.skill_id)))

    def _note_unchanged(self, paths: Sequence[str]) -> None:
        self._tally.folders += len(paths)
        self._tally.outcomes["unchanged"] += len(paths)


def _is_among(path: str, new: Collection[str]) -> bool:
    """Return whether a folder, or the archive that holds it, is among new ones."""
    return path in new or top_of_archive(path) in new


def _path_of(result: _FolderResult) -> str:
    return result.verdict.place.path if isinstance(result, Judged) else result.path


def can_list_all(roots: Sequence[RootSpec]) -> bool:
    """Return whether every root can be listed, so that a folder not found in one is gone."""
    return all(source.can_list(root.path) for root in roots)
