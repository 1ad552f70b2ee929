"""Scans of roots without waiting, beside no service."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from catalog.model.skill import RootSpec
from catalog.writing.store import Store
from pipeline.roots.local.folder import Limits
from pipeline.service.scanning.change_batches import Report, ScanPlan
from pipeline.service.scanning.synchronizer import FullScan, Synchronizer
from pipeline.watch.settling import WatchUnit


def plan_of(store: Store, roots: Sequence[RootSpec], **options: Any) -> ScanPlan:
    """Return the plan of a re-scan by this process alone."""
    plan = ScanPlan(store=store, roots=roots, limits=Limits(), quiet=0.0, trigger="re-scan")
    return replace(plan, **options)


def scan_all(store: Store, roots: Sequence[RootSpec], **options: Any) -> Report:
    """Make a full scan."""
    scan = FullScan(plan_of(store, roots, **options))
    list(scan.run_all())
    return scan.report


def scan_units(
    store: Store, roots: Sequence[RootSpec], *units: str, trigger: str = "event", **options: Any
) -> Report:
    """Scan some units of the first root."""
    scan = Synchronizer(plan_of(store, roots, trigger=trigger, **options))
    list(scan.run([WatchUnit(roots[0].path, unit) for unit in units]))
    return scan.report
