"""Scan for a command: repeated until no folder is changing, then published."""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from catalog.audit import verdicts
from catalog.database import connection, requests, stored_health
from catalog.database.connection import explained
from catalog.model import paths
from catalog.model.errors import ClusterUnusable
from catalog.model.values import Json
from catalog.reading import status as reading_status
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.outcomes.collect import take_outcomes
from pipeline.roots.units import WatchUnit
from pipeline.service import change_log, open_catalog
from pipeline.service.publication import publish
from pipeline.service.requests import REPAIR
from pipeline.service.scanning.change_batches import Report
from pipeline.service.scanning.engines import Engine, processes, serial
from pipeline.service.scanning.full_scan import FullScan, show_pending
from pipeline.service.scanning.synchronizer import Synchronizer, can_list_all

EngineName: TypeAlias = Literal["serial", "processes", "dask"]


@dataclass(frozen=True, slots=True)
class Result:
    """Result of a scan."""

    report: Report
    pending: tuple[WatchUnit, ...]  # folders that never stopped changing
    active: int
    shadowed: int
    rejected_in_all: int
    held: int  # removals that wait for acceptance
    to_review: int  # versions that wait for review
    seconds: float

    def as_json(self) -> dict[str, Json]:
        """Return the counts that commands print."""
        outcomes = self.report.outcomes
        return {
            "seen": self.report.folders,
            "added": outcomes["added"],
            "updated": outcomes["updated"],
            "unchanged": outcomes["unchanged"],
            "renamed": outcomes["renamed"],
            "rejected": outcomes["rejected"],
            "removed": outcomes["removed"],
            "held": self.held,
            "pending": len(self.pending),
            "to_review": self.to_review,
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

    A folder that is still changing is scanned again, up to the longest settling time in total.
    accepts_removals confirms all removals. Raises DiskFull and CatalogUnusable.
    """
    began = time.monotonic()
    scan = _CommandScan(
        settings,
        store,
        units,
        engine=engine,
        deep=deep,
        accepts_removals=accepts_removals,
        progress=progress,
    )
    with explained(settings.catalog_path):
        report = scan.run()
        publish(settings, store, datetime.now(UTC))
        if not units:
            store.collect(settings.retention, datetime.now(UTC))
            store.thin(settings.retention, datetime.now(UTC))
        store.events.deliver(open_catalog.LOG, change_log.log_changes)
        counts, held = reading_status.counts(store.db), store.removals.held()
        to_review = stored_health.to_review(store.db)
    return Result(
        report,
        (*report.unsettled, *report.delayed),
        counts["active"],
        counts["shadowed"],
        counts["rejected"],
        held,
        to_review,
        time.monotonic() - began,
    )


class _CommandScan:
    """Scan of one command, repeated for the folders that are still changing."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        units: Sequence[WatchUnit],
        *,
        engine: Engine,
        deep: bool,
        accepts_removals: bool,
        progress: Callable[[Report], None],
    ) -> None:
        self._settings = settings
        self._store = store
        self._units = units
        self._engine = engine
        self._deep = deep
        self._progress = progress
        self._began = time.monotonic()
        self._limits = settings.limits
        self._full_scan = None if units else self._new_full_scan(accepts_removals)

    def run(self) -> Report:
        """Scan until all folders have settled or the longest settling time is over."""
        report = self._rescan_unsettled(self._first_scan())
        for unit in report.unsettled:
            show_pending(
                self._store,
                self._settings.root_specs,
                unit,
                datetime.now(UTC) - timedelta(seconds=self._seconds()),
                report.failures.get(unit),
            )
        if self._full_scan:
            self._finish_full_scan(self._full_scan, report)
        return report

    def _first_scan(self) -> Report:
        if not self._full_scan:
            return self._scan(self._units)
        for _ in self._full_scan.run():
            self._progress(self._full_scan.report)
        return self._full_scan.report

    def _rescan_unsettled(self, report: Report) -> Report:
        while report.unsettled and self._seconds() < self._settings.settle_longest:
            time.sleep(self._settings.settle_quiet)
            # An unsettled archive counted as one folder, and a unit may be listed twice.
            repeated = len(set(report.unsettled))
            report = report.followed_by(self._scan(report.unsettled), repeated)
        return report

    def _scan(self, units: Sequence[WatchUnit]) -> Report:
        synchronizer = Synchronizer(
            self._store,
            self._settings.root_specs,
            self._limits,
            trigger="command",
            quiet=self._settings.settle_quiet,
            engine=self._engine,
            deep=self._deep,
            scan_id=self._full_scan.scan_id if self._full_scan else None,
        )
        for _ in synchronizer.run(units):
            self._progress(synchronizer.report)
        return synchronizer.report

    def _new_full_scan(self, accepts_removals: bool) -> FullScan:
        return FullScan(
            self._store,
            self._settings.root_specs,
            self._limits,
            trigger="command",
            deep=self._deep,
            engine=self._engine,
            quiet=self._settings.settle_quiet,
            accepts_removals=accepts_removals,
        )

    def _finish_full_scan(self, full_scan: FullScan, report: Report) -> None:
        if not report.unsettled and can_list_all(self._settings.root_specs):
            for _ in self._store.repair.end_takeover(datetime.now(UTC)):
                pass
        full_scan.write_row(report)
        _take_outcomes(self._settings, self._store)

    def _seconds(self) -> float:
        return time.monotonic() - self._began


def _take_outcomes(settings: Settings, store: Store) -> None:
    """Store the outcome files of runtimes, except files still being written."""
    report = take_outcomes(
        store, settings.outcomes_folder, quiet=settings.settle_quiet, now_ns=time.time_ns()
    )
    change_log.log_outcomes(report)


def unit_at(settings: Settings, path: Path) -> WatchUnit | None:
    """Return the unit at a path; None if the path lies in no root."""
    absolute = Path(path).absolute()
    real = Path(os.path.realpath(absolute))
    for place in (real,) if ".." in absolute.parts else (absolute, real):
        for root in settings.root_specs:
            for base in (root.path, os.path.realpath(root.path)):
                if place.is_relative_to(base):
                    below = str(place.relative_to(base))
                    return WatchUnit(root.path, "" if below == "." else paths.text_path(below))
    return None


@contextmanager
def engine_named(
    name: EngineName,
    scheduler: str | None = None,
    notice: Callable[[str], None] = lambda _: None,
) -> Iterator[Engine]:
    """Give the engine with a name; scheduler is the address of a Dask cluster.

    notice gets a sentence with the URL of its dashboard.

    Raises ClusterUnusable, also if Dask is not installed.
    """
    if name != "dask":
        yield serial if name == "serial" else processes
        return
    try:
        from pipeline.service.scanning.dask_cluster import dask  # an optional extra
    except ImportError as error:
        raise ClusterUnusable(
            "Dask is not installed here: install skilldrop with its extra, skilldrop[dask]."
        ) from error
    with dask(scheduler, notice) as engine:
        yield engine


def scan_by_service(
    settings: Settings,
    *,
    deep: bool,
    waiting: Callable[[int], None] = lambda _: None,
) -> Result:
    """Let the running service scan all roots, and return the result.

    waiting is called with the seconds that the service has taken so far. Raises RequestFailed and
    CatalogUnusable.
    """
    began = time.monotonic()
    db = connection.open_catalog(settings.catalog_path)
    checkpoint = verdicts.checkpoint(db)
    requests.ask(
        settings.catalog_path,
        REPAIR,
        {"accept_removals": False, "places": [], "deep": deep, "pull": True},
        waiting=waiting,
    )
    changes = verdicts.changes_since(db, checkpoint)
    counts = reading_status.counts(db)
    state = reading_status.load(db, settings.catalog_path)
    present = sum(counts.values()) - counts["removed"]
    outcomes = Counter(change.outcome for change in changes)
    troubles = {root["path"]: root["trouble"] for root in state["roots"] if root["trouble"]}
    return Result(
        Report(present, outcomes, troubles=troubles),
        tuple(
            WatchUnit(row["root"], row["path"]) for row in state["pending"] if not row["is_held"]
        ),
        counts["active"],
        counts["shadowed"],
        counts["rejected"],
        sum(row["skills"] for row in state["held"]),
        state["to_review"],
        time.monotonic() - began,
    )
