"""Synchronizer: the only path from changes in the roots to the catalog."""

import time
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeAlias

from catalog.model.change import Judged, Removal
from catalog.model.errors import RootUnreadable
from catalog.model.finding import Finding
from catalog.model.paths import top_of_archive
from catalog.model.skill import LOST_ROOT, Rejection, RootSpec
from catalog.writing.tables.removals import NO_FOLDER, NO_ROOT
from catalog.writing.tables.skills import KnownSkills
from pipeline.roots import source
from pipeline.roots.local.folder import LooseFinding
from pipeline.roots.local.mounts import file_systems
from pipeline.service.scanning import removals
from pipeline.service.scanning.change_batches import ChangeBatches, Report, ScanPlan
from pipeline.service.scanning.removals import RemovalDetector
from pipeline.service.scanning.scanner import (
    NewFolder,
    ScanOptions,
    ScanResult,
    ScanScope,
    Unchanged,
    UnreadableDirectory,
    Unsettled,
)
from pipeline.watch.settling import WatchUnit, outermost, with_archives

_FolderResult: TypeAlias = Unsettled | NewFolder | Judged


@dataclass(slots=True)
class _UnitScan:
    """One unit, and results that are stored when its scan is complete."""

    unit: WatchUnit
    known: KnownSkills
    missing: set[str]
    loose_findings: list[tuple[str, Finding]] = field(default_factory=list)
    unreadable: list[WatchUnit] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)  # unchanged, but stored as pending


class Synchronizer:
    """One scan of some units. `run` may stop after any batch and leaves the catalog consistent."""

    def __init__(self, plan: ScanPlan) -> None:
        self.plan = plan
        self.report = Report()
        """The results so far."""
        self._store = plan.store
        self._batches = ChangeBatches(plan, self.report)
        self._roots = {root.path: root for root in plan.roots}
        self._new_folders: dict[str, list[str]] = defaultdict(list)  # paths by root
        self._lost = plan.store.takeover.skills()
        self._changed: list[Judged] = []  # new folders of lost skills, with other content

    def run(self, units: Sequence[WatchUnit]) -> Iterator[None]:
        """Bring the catalog up to the present content of the units.

        If the catalog knows folders in the units, new folders are read last, when the missing ones
        are known: so a rename differs from a removal and an addition.
        Raises OutOfRoom at the end if some changes did not fit; they need another scan.
        """
        units = outermost(with_archives(units))
        roots = dict.fromkeys(unit.root for unit in units)
        for root in roots:
            removals.note_new_mounts(self._store, root)
        self._removals = RemovalDetector(self.plan, self.report, units)
        self._removals.add_moved_roots()
        known = {unit: self._store.skills.known(*unit) for unit in units}
        options = ScanOptions(self.plan.limits, self.plan.quiet, self.plan.deep)
        has_known = any(skills.fingerprints for skills in known.values())
        for unit, skills in known.items():
            yield from self._scan_unit(unit, skills, replace(options, new_folders=not has_known))
        yield from self._read_new_folders(options)
        self._give_to_changed()
        self._batches.flush()
        yield from self._remove(list(self._removals.decide()))
        for root in roots:
            self._store.roots.set_trouble(root, self.report.troubles.get(root))
        if self._batches.no_room:  # raised last: removals free space
            raise self._batches.no_room

    def _remove(self, places: Sequence[WatchUnit]) -> Iterator[None]:
        """Mark the skills in places as removed."""
        for place in places:
            self._batches.add(Removal(*place))
            yield from self._batches.pause()
        self._batches.flush()

    # Units

    def _scan_unit(
        self, unit: WatchUnit, known: KnownSkills, options: ScanOptions
    ) -> Iterator[None]:
        """Scan a unit and note its missing folders."""
        scan = _UnitScan(unit, known, set(known.fingerprints))
        scope = ScanScope(self._roots[unit.root], (unit.path,), known.fingerprints, known.stats)
        try:
            for result in self.plan.engine(scope, options):
                if result:
                    self._sort(result, scan)
                yield from self._batches.pause()
        except RootUnreadable as error:
            self.report.troubles[unit.root] = str(error)
            if not source.can_list(unit.root):
                self._removals.add_root(unit.root, known)
            return
        self._finish(scan)

    def _sort(self, result: ScanResult, scan: _UnitScan) -> None:
        root = scan.unit.root
        if isinstance(result, Unchanged):
            self._note_unchanged(result.paths)
            scan.missing.difference_update(result.paths)
            self._store.skills.set_stats(root, result.stats)
            scan.settled += (path for path in result.paths if path in scan.known.pending)
        elif isinstance(result, LooseFinding):
            # A scan also yields the findings on the way down to the unit.
            if WatchUnit(root, result.path).lies_in(scan.unit):
                scan.loose_findings.append((result.path, result.finding))
        elif isinstance(result, UnreadableDirectory):
            scan.unreadable.append(WatchUnit(root, result.path))
        else:
            path = _path_of(result)
            self._note(root, result, is_new=path not in scan.known.fingerprints)
            if not isinstance(result, NewFolder):
                scan.missing.discard(path)

    def _finish(self, scan: _UnitScan) -> None:
        root = scan.unit.root
        # Folders that still settle may not be copied in full; their own scan follows.
        settling = self.plan.still_settling
        self._store.skills.set_loose_findings(
            *scan.unit,
            [
                (path, finding)
                for path, finding in scan.loose_findings
                if not any(WatchUnit(root, path).lies_in(unit) for unit in settling)
            ],
        )
        if scan.settled:
            self._store.skills.clear_pending(root, scan.settled)
        missing = [
            path
            for path in sorted(scan.missing)
            if not any(WatchUnit(root, path).lies_in(place) for place in scan.unreadable)
        ]
        self._removals.add(root, missing, scan.known)

    # New folders

    def _read_new_folders(self, options: ScanOptions) -> Iterator[None]:
        for root, paths in self._new_folders.items():
            new = set(paths)
            tops = outermost([WatchUnit(root, path) for path in paths])
            # If an archive changed, all of its known skills are still missing.
            known = self._removals.in_archives(root, new)
            scope = ScanScope(self._roots[root], tuple(unit.path for unit in tops), known)
            try:
                for result in self.plan.engine(scope, options):
                    if result:
                        self._sort_new(root, result, new)
                    yield from self._batches.pause()
            except RootUnreadable as error:
                self.report.troubles[root] = str(error)

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

    def _note(self, root: str, result: _FolderResult, *, is_new: bool) -> None:
        """Note the result for a folder."""
        if isinstance(result, NewFolder):
            self._new_folders[root].append(result.path)
            return
        self.report.folders += 1
        if isinstance(result, Unsettled):
            self.report.note_unsettled(WatchUnit(root, result.path), result.failure)
            return
        if is_new:
            verdict = result.verdict
            moved_from = self._removals.claim(verdict.digest, verdict.place.path)
            lost = None if moved_from else self._lost.get(verdict.skill_id)
            if lost and lost.digest != verdict.digest:
                self._changed.append(result)
                return
            if lost:
                moved_from = self._found(verdict.skill_id)
            result = result._replace(moved_from=moved_from)
        self._batches.add(result)

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
        self.report.folders += len(paths)
        if paths:
            self.report.outcomes["unchanged"] += len(paths)


class FullScan(Synchronizer):
    """One scan of all roots, with its row in `scans`."""

    def __init__(self, plan: ScanPlan, *, is_poll: bool = False) -> None:
        """Begin its row; a poll keeps it only if something changed."""
        scan_id = plan.store.begin_scan(plan.trigger, datetime.now(UTC))
        super().__init__(replace(plan, scan_id=scan_id))
        self._scan_id = scan_id
        self._is_poll = is_poll
        self._took_ms = 0.0

    def run_all(self) -> Iterator[None]:
        """Run the scan; pause after each batch, with the catalog consistent."""
        began = time.perf_counter()
        yield from self._check_packages()
        for root, paths in self._unconfigured().items():
            if root != LOST_ROOT:  # folders of these skills may be found now
                yield from self._leave(root, paths, removes=self.plan.accepts_removals)
        yield from self.run([WatchUnit(root.path, "") for root in self.plan.roots])
        self._store.decisions.take_preferences(datetime.now(UTC))
        if lost := self._unconfigured().get(LOST_ROOT):
            is_sure = self._has_read_all() and len(lost) < removals.FEWEST
            removes = is_sure or self.plan.accepts_removals
            yield from self._leave(LOST_ROOT, lost, removes=removes)
        # A repair of packages may have had too little room, or had to wait for the scan.
        if self._store.repair.is_incomplete:
            yield from _each(self._store.repair.repair_all(datetime.now(UTC)))
        if self._has_read_all():
            yield from _each(self._store.repair.end_takeover(datetime.now(UTC)))
        self._took_ms = (time.perf_counter() - began) * 1000
        self.write_row(self.report)

    def write_row(self, report: Report) -> None:
        """Store the results of the scan; call it again after unsettled folders were rescanned."""
        for root in self._roots:
            if self.plan.accepts_removals:
                self._store.removals.note_accepted(root)
            trouble = report.troubles.get(root)
            self._store.roots.set_trouble(root, trouble)
            if not trouble:
                self._store.removals.note_mounts(root, file_systems(root))
        self._store.finish_scan(
            self._scan_id,
            datetime.now(UTC),
            self._took_ms,
            report.folders,
            report.outcomes,
            report.missed_by_events,
        )
        if self._is_poll and not report.outcomes.keys() - {"unchanged"}:
            self._store.drop_scan(self._scan_id)

    def _check_packages(self) -> Iterator[None]:
        """Check the packages in a start and in a deep scan, as no event reports their changes."""
        if self.plan.deep:
            yield from _each(self._store.repair.repair_all(datetime.now(UTC)))
        if self.plan.deep or self.plan.trigger == "start":
            for unrepaired in self._store.repair.check(datetime.now(UTC), deep=self.plan.deep):
                self.report.unsettled += [WatchUnit(*key) for key in unrepaired]
                yield

    def _unconfigured(self) -> dict[str, list[str]]:
        return self._store.roots.unconfigured(with_held=self.plan.accepts_removals)

    def _leave(self, root: str, paths: Sequence[str], *, removes: bool) -> Iterator[None]:
        """Hold the removal of skills whose root is not configured, or remove them."""
        if removes:
            yield from self._remove([WatchUnit(root, path) for path in paths])
        else:
            reason = NO_FOLDER if root == LOST_ROOT else NO_ROOT
            removals.hold(self.plan, self.report, root, paths, reason)

    def _has_read_all(self) -> bool:
        return not self.report.unsettled and can_list_all(self.plan.roots)


def _each(steps: Iterator[object]) -> Iterator[None]:
    for _ in steps:
        yield


def _is_among(path: str, new: Collection[str]) -> bool:
    """Return whether a folder, or the archive that contains it, is among new ones."""
    return path in new or top_of_archive(path) in new


def _path_of(result: _FolderResult) -> str:
    return result.verdict.place.path if isinstance(result, Judged) else result.path


def can_list_all(roots: Sequence[RootSpec]) -> bool:
    """Return whether every root can be listed, so that a folder not found in one is gone."""
    return all(source.can_list(root.path) for root in roots)
