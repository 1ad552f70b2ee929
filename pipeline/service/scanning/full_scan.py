"""Full scan over all roots."""

import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from catalog.model.change import ChangeResult
from catalog.model.naming import qualified_name, skill_id
from catalog.model.skill import LOST_ROOT, RootSpec
from catalog.model.values import Trigger
from catalog.writing.store import Store
from pipeline.roots.local.folder import Limits
from pipeline.roots.units import WatchUnit
from pipeline.service.scanning import removals
from pipeline.service.scanning.change_batches import Report
from pipeline.service.scanning.engines import Engine, serial
from pipeline.service.scanning.results import place_of
from pipeline.service.scanning.synchronizer import Synchronizer, can_list_all


class FullScan:
    """One scan of all roots, with its row in `scans`."""

    def __init__(
        self,
        store: Store,
        roots: Sequence[RootSpec],
        limits: Limits,
        *,
        quiet: float,
        trigger: Trigger,
        engine: Engine = serial,
        deep: bool = False,
        was_announced: Callable[[ChangeResult], bool] = lambda _: True,
        still_settling: Collection[WatchUnit] = (),
        accepts_removals: bool = False,
        is_poll: bool = False,
    ) -> None:
        """Take the arguments of a Synchronizer; a poll keeps its row only if something changed."""
        self._is_poll = is_poll
        self._accepts_removals = accepts_removals
        self._store = store
        self._roots = roots
        self._deep = deep
        # No event reports changes of the packages; a start or a deep scan finds them.
        self._checks_packages = deep or trigger == "start"
        self.scan_id = store.scans.begin(trigger, datetime.now(UTC))
        self._synchronizer = Synchronizer(
            store,
            roots,
            limits,
            quiet=quiet,
            trigger=trigger,
            engine=engine,
            scan_id=self.scan_id,
            deep=deep,
            was_announced=was_announced,
            still_settling=still_settling,
            accepts_removals=accepts_removals,
        )
        self._unrepaired: list[WatchUnit] = []  # folders whose packages could not be repaired
        self._took_ms = 0.0

    @property
    def report(self) -> Report:
        """The results so far."""
        report = self._synchronizer.report
        return replace(report, unsettled=(*self._unrepaired, *report.unsettled))

    def run(self) -> Generator[None, None, None]:
        """Run the scan; pause after each batch, with the catalog consistent."""
        began = time.perf_counter()
        yield from self._check_packages()
        unconfigured = self._store.roots.unconfigured(with_held=self._accepts_removals)
        unconfigured.pop(LOST_ROOT, None)  # folders of these skills may be found now
        for root_path, paths in unconfigured.items():
            yield from self._synchronizer.leave(root_path, paths)
        yield from self._synchronizer.run([WatchUnit(root.path, "") for root in self._roots])
        self._store.decisions.take_preferences(datetime.now(UTC))
        lost = self._store.roots.unconfigured(with_held=self._accepts_removals).get(LOST_ROOT)
        if lost:
            is_sure = self._has_read_all() and len(lost) < removals.FEWEST
            yield from self._synchronizer.leave(LOST_ROOT, lost, removes=is_sure)
        yield from self._complete_repair()
        self._took_ms = (time.perf_counter() - began) * 1000
        self.write_row(self.report)

    def _check_packages(self) -> Iterator[None]:
        if self._deep:
            for _ in self._store.repair.repair_all(datetime.now(UTC)):
                yield
        if self._checks_packages:
            self._store.repair_search()
            self._store.repair_references()
            for unrepaired in self._store.repair.check(datetime.now(UTC), deep=self._deep):
                self._unrepaired += [WatchUnit(*key) for key in unrepaired]
                yield

    def _complete_repair(self) -> Iterator[None]:
        """Finish a repair of packages that had too little room or had to wait for the scan."""
        if self._store.repair.is_incomplete:
            for _ in self._store.repair.repair_all(datetime.now(UTC)):
                yield
        if self._has_read_all():
            for _ in self._store.repair.end_takeover(datetime.now(UTC)):
                yield

    def _has_read_all(self) -> bool:
        return not self.report.unsettled and can_list_all(self._roots)

    def write_row(self, report: Report) -> None:
        """Store the results of the scan; call it again after unsettled folders were rescanned."""
        for root in self._roots:
            self._update_root(root.path, report.troubles.get(root.path))
        self._store.scans.finish(
            self.scan_id,
            datetime.now(UTC),
            self._took_ms,
            report.folders,
            report.outcomes,
            report.missed_by_events,
        )
        if self._is_poll and not report.outcomes.keys() - {"unchanged"}:
            self._store.scans.drop(self.scan_id)

    def _update_root(self, root: str, trouble: str | None) -> None:
        if self._accepts_removals:
            self._store.removals.note_accepted(root)
        self._store.roots.set_trouble(root, trouble)
        if not trouble:
            removals.note_all(self._store, root)


def show_pending(
    store: Store,
    roots: Sequence[RootSpec],
    unit: WatchUnit,
    since: datetime,
    reason: str | None = None,
) -> None:
    """Mark a folder as pending: it does not stop changing, or cannot be read for a reason."""
    root = next(root for root in roots if root.path == unit.root)
    place = place_of(root, unit.path)
    name = place.folder_name
    store.skills.set_pending(
        place,
        qualified_name(name, place.namespace),
        skill_id(name, place.namespace, unit.path),
        since,
        reason or "still changing",
    )
