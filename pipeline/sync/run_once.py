"""One full scan for a command, until nothing is still changing, then publication."""

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from catalog.database.connection import explained
from catalog.model import paths
from catalog.model.errors import ClusterUnusable
from catalog.model.values import Json
from catalog.reading import search
from catalog.text.display import visible
from catalog.writing.index_publisher import publish_indexes
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.outcomes.collect import take_outcomes
from pipeline.roots.local.folder import Limits
from pipeline.roots.units import WatchUnit
from pipeline.sync import change_log, listeners
from pipeline.sync.engines.processes import Engine, processes, serial
from pipeline.sync.full_scan import FullScan, show_pending
from pipeline.sync.report import Report
from pipeline.sync.synchronizer import Synchronizer, can_list_all

log = logging.getLogger("skilldrop")

EngineName: TypeAlias = Literal["serial", "processes", "dask"]


@dataclass(frozen=True, slots=True)
class Result:
    """What the pass came to."""

    report: Report
    pending: tuple[WatchUnit, ...]  # folders that never stopped changing
    active: int
    shadowed: int
    rejected_in_all: int
    held: int  # removals that wait to be accepted
    seconds: float

    def as_json(self) -> dict[str, Json]:
        """Return the published counts."""
        outcomes = self.report.outcomes
        return {
            "seen": self.report.seen,
            "added": outcomes["added"],
            "updated": outcomes["updated"],
            "unchanged": outcomes["unchanged"],
            "renamed": outcomes["renamed"],
            "rejected": outcomes["rejected"],
            "removed": outcomes["removed"],
            "held": self.held,
            "pending": len(self.pending),
            "active": self.active,
            "shadowed": self.shadowed,
            "seconds": round(self.seconds, 3),
        }


def scan_once(
    settings: Settings,
    store: Store,
    units: Sequence[WatchUnit] = (),
    *,
    engine: Engine = processes,
    deep: bool = False,
    accepts_removals: bool = False,
    progress: Callable[[Report], None] = lambda _: None,
) -> Result:
    """Bring the catalog up to the units, or to all roots, and publish the indexes.

    A folder that is still changing is waited for, up to the longest settling time in all.
    accepts_removals confirms that whatever is gone was meant to go.
    Raises DiskFull and CatalogUnusable.
    """
    began = time.monotonic()
    roots, limits = settings.root_specs, Limits(**settings.limits.model_dump())

    full = (
        None
        if units
        else FullScan(
            store,
            roots,
            limits,
            trigger="command",
            deep=deep,
            engine=engine,
            quiet=settings.settle_quiet,
            accepts_removals=accepts_removals,
        )
    )

    def new_synchronizer() -> Synchronizer:
        return Synchronizer(
            store,
            roots,
            limits,
            trigger="command",
            quiet=settings.settle_quiet,
            engine=engine,
            deep=deep,
            scan_id=full.scan_id if full else None,
        )

    with explained(settings.data):
        scan: FullScan | Synchronizer
        steps: Iterator[None]
        if full:
            scan, steps = full, full.run()
        else:
            scan = new_synchronizer()
            steps = scan.run(units)
        for _ in steps:
            progress(scan.report)
        report, waiting = scan.report, scan.report.unsettled
        while waiting and time.monotonic() - began < settings.settle_longest:
            time.sleep(settings.settle_quiet)
            again = new_synchronizer()
            for _ in again.run(waiting):
                progress(again.report)
            # An archive was seen as one.
            report = report.followed_by(again.report, repeated=len(set(waiting)))
            waiting = again.report.unsettled
        for unit in waiting:
            show_pending(
                store,
                roots,
                unit,
                datetime.now(UTC) - timedelta(seconds=time.monotonic() - began),
                report.failures.get(unit),
            )
        if full:
            if not waiting and can_list_all(roots):
                for _ in store.repair.remove_lost(datetime.now(UTC)):
                    pass
            full.write_row(report)
            _take_outcomes(settings, store)
        publish_indexes(
            store,
            settings.index_specs,
            settings.index_folder,
            datetime.now(UTC),
            settings.retention.of_indexes,
        )
        if full:
            store.collect(settings.retention.of_packages, datetime.now(UTC))
            store.thin(settings.retention.of_history, datetime.now(UTC))
        store.events.deliver(listeners.LOG, change_log.log_changes)
        counts, held = search.counts(store.db), store.removals.held()
    return Result(
        report,
        (*waiting, *report.delayed),
        counts["active"],
        counts["shadowed"],
        counts["rejected"],
        held,
        time.monotonic() - began,
    )


def _take_outcomes(settings: Settings, store: Store) -> None:
    """Take in what runtimes dropped; a file that is still written is left to the next pass."""
    report = take_outcomes(
        store, settings.outcomes_folder, quiet=settings.settle_quiet, now_ns=time.time_ns()
    )
    for path, why in report.rejected.items():
        log.warning("outcome %s rejected: %s", visible(path), visible(why))


def unit_at(settings: Settings, path: Path) -> WatchUnit | None:
    """Return the part of a root that a path names; None where it lies in no root."""
    absolute = Path(path).absolute()
    for root in settings.root_specs:
        for base in (root.path, os.path.realpath(root.path)):
            if absolute.is_relative_to(base):
                below = str(absolute.relative_to(base))
                return WatchUnit(root.path, "" if below == "." else paths.text_path(below))
    return None


@contextmanager
def engine_named(name: EngineName, scheduler: str | None = None) -> Iterator[Engine]:
    """Give the engine of that name; scheduler is the address of a Dask cluster.

    Raises ClusterUnusable, also where Dask is not installed.
    """
    if name != "dask":
        yield serial if name == "serial" else processes
        return
    try:
        from pipeline.sync.engines.dask_cluster import dask  # an extra that few need
    except ImportError as error:
        raise ClusterUnusable(
            "Dask is not installed here: install skilldrop with its extra, skilldrop[dask]."
        ) from error
    with dask(scheduler) as engine:
        yield engine
