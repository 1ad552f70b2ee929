"""Comparison of roots, catalog, packages, indexes and links, and repair of differences."""

import time
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TypeVar

from catalog.audit import published_files, verdicts
from catalog.audit import published_files as audit_packages
from catalog.audit.difference import Difference
from catalog.database import connection as database_connection
from catalog.database.connection import explained
from catalog.model.change import ChangeResult, Judged
from catalog.model.errors import RootUnreadable
from catalog.model.finding import Finding
from catalog.model.skill import Rejection, RootSpec
from catalog.reading.browse import Catalog
from catalog.writing.links.table import Packages
from catalog.writing.store import Store
from catalog.writing.tables.removals import NO_ROOT
from pipeline.config.settings import Settings
from pipeline.roots import source
from pipeline.roots.local.tree_walk import LooseFinding
from pipeline.roots.units import WatchUnit
from pipeline.service.open_catalog import packaging_of
from pipeline.service.requests import REPAIR, run_or_request
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.engines import Engine, processes
from pipeline.service.scanning.results import ScanOptions, ScanScope, UnreadableDirectory, Unsettled


class FolderComparison:
    """One comparison, with the numbers of folders and known deviations in it."""

    def __init__(
        self,
        settings: Settings,
        db: Catalog,
        engine: Engine,
        progress: Callable[[int], None],
    ) -> None:
        self._settings = settings
        self._db = db
        self._engine = engine
        self._progress = progress
        self.compared = self.held = self.last_good = 0

    def differences(self) -> Iterator[Difference]:
        """Yield the differences and update the counts; call it once."""
        for root in self._settings.root_specs:
            yield from self._compare_root(root)
        for root_path, path, is_held in verdicts.unconfigured(self._db):
            if is_held:
                self.held += 1
            else:
                yield Difference("catalog", root_path, path, NO_ROOT.message)

    def _compare_root(self, root: RootSpec) -> Iterator[Difference]:
        limits = self._settings.limits
        unscanned = verdicts.stored_folders(self._db, root.path)
        loose: list[tuple[str, Finding]] = []
        unreadable: list[WatchUnit] = []
        try:
            options = ScanOptions(limits, self._settings.settle_quiet, deep=True)
            # For a rejected archive, the scan yields a result for each known skill in it.
            known = {path: row.fingerprint for path, row in unscanned.items()}
            for result in self._engine(ScanScope(root, ("",), known), options):
                if isinstance(result, LooseFinding):
                    loose.append((result.path, result.finding))
                elif isinstance(result, UnreadableDirectory):
                    unreadable.append(WatchUnit(root.path, result.path))
                elif result:
                    yield from self._compare_folder(root, result, unscanned)
        except RootUnreadable as error:
            yield from self._compare_unreadable_root(root, unscanned, str(error))
            return
        if not verdicts.has_loose_findings(self._db, root.path, loose):
            yield Difference(
                "catalog", root.path, "", "the catalog has the wrong findings outside skills"
            )
        for path, row in unscanned.items():
            if not any(WatchUnit(root.path, path).lies_in(directory) for directory in unreadable):
                yield from self._compare_missing(root, path, row)

    def _compare_folder(
        self, root: RootSpec, result: object, unscanned: dict[str, verdicts.StoredFolder]
    ) -> Iterator[Difference]:
        self.compared += 1
        self._progress(self.compared)
        if isinstance(result, Unsettled):
            unscanned.pop(result.path, None)
            yield Difference(
                "catalog", root.path, result.path, result.failure or "it is still changing"
            )
            return
        assert isinstance(result, Judged)
        verdict = result.verdict
        path = verdict.place.path
        row = unscanned.pop(path, None)
        if row and row.is_delayed:
            return  # a deviation that the catalog reports
        for contradiction in verdicts.contradictions(self._db, verdict):
            yield Difference("catalog", root.path, path, contradiction)
        if row and row.is_pending:
            yield Difference("catalog", root.path, path, "it is settled but shown as pending")
        if row and row.fingerprint != verdict.fingerprint:
            yield Difference("catalog", root.path, path, "it was touched and not scanned since")
        self.last_good += bool(row and row.status != "rejected" and isinstance(verdict, Rejection))

    def _compare_unreadable_root(
        self, root: RootSpec, unscanned: dict[str, verdicts.StoredFolder], reason: str
    ) -> Iterator[Difference]:
        """Compare with a root that is missing or cannot be read."""
        if source.can_list(root.path):
            yield Difference("folder", root.path, "", reason)
        for path, row in unscanned.items():
            yield from self._compare_missing(root, path, row)

    def _compare_missing(
        self, root: RootSpec, path: str, row: verdicts.StoredFolder
    ) -> Iterator[Difference]:
        if row.is_held:
            self.held += 1
        else:
            yield Difference(
                "catalog", root.path, path, f"it is gone, but its status is {row.status}"
            )


T = TypeVar("T")

RETRY_AFTER = 0.5
"""Seconds, added to the quiet time, before differences are checked again: meanwhile a running
service may repair them."""
MOST_COMPARISONS = 3
"""Most comparisons while the last two have different results."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Differences, and the known deviations that the catalog reports itself."""

    differences: tuple[Difference, ...]
    held: int  # removals that wait for acceptance
    last_good: int  # folders with an older version, as the newest content is rejected
    folders: int  # skill folders compared


def compare(
    settings: Settings,
    *,
    engine: Engine = processes,
    progress: Callable[[int], None] = lambda _: None,
) -> Comparison:
    """Read and validate every folder again, and return the differences from the catalog.

    A service may be at work, or a folder may still be changing, so differences are checked again
    after a while, until two comparisons agree on them. Writes nothing. Raises NotInCatalog and
    CatalogUnusable.
    """
    comparison = compare_once(settings, engine=engine, progress=progress)
    differences = list(comparison.differences)
    for _ in range(MOST_COMPARISONS - 1):
        if not differences:
            break
        time.sleep(settings.settle_quiet + RETRY_AFTER)
        before = set(differences)
        comparison = compare_once(settings, engine=engine, progress=progress)
        places = {(difference.kind, difference.where) for difference in before}
        differences = [
            difference
            for difference in comparison.differences
            if (difference.kind, difference.where) in places
        ]
        if before.issuperset(differences):
            break
    return replace(comparison, differences=tuple(differences))


def compare_once(
    settings: Settings,
    *,
    engine: Engine = processes,
    progress: Callable[[int], None] = lambda _: None,
) -> Comparison:
    """Compare once, without the repeated checks of `compare`."""
    db = database_connection.open_catalog(settings.catalog_path)
    with explained(settings.catalog_path), closing(db.conn):
        folders = FolderComparison(settings, db, engine, progress)
        packaging = packaging_of(settings)
        differences = (
            *folders.differences(),
            *verdicts.of_catalog(db),
            *audit_packages.of_packages(db, packaging.folder, packaging.packages),
            *published_files.of_indexes(db, settings.index_folder),
            *published_files.of_links(db, Packages(packaging.folder.path, packaging.in_place)),
        )
    return Comparison(differences, folders.held, folders.last_good, folders.compared)


@dataclass(frozen=True, slots=True)
class RepairResult:
    """Result of a comparison, and of the repair that followed it."""

    before: Comparison
    left: tuple[Difference, ...]
    changes: tuple[ChangeResult, ...] = ()  # of skills, without removals
    removed: tuple[ChangeResult, ...] = ()
    accepted: tuple[ChangeResult, ...] = ()  # the removed skills whose removal was held
    repaired: tuple[Difference, ...] = ()
    lost: tuple[Difference, ...] = ()  # packages removed because their files no longer exist


def repair(
    settings: Settings,
    *,
    accepts_removals: bool = False,
    progress: Callable[[int], None] = lambda _: None,
    waiting: Callable[[int], None] = lambda _: None,
) -> RepairResult:
    """Run a full scan that trusts nothing stored; return its changes and the remaining differences.

    A running service does that scan; waiting is called with the seconds taken so far. Raises
    CatalogBusy if another process writes the catalog, RequestFailed, NotInCatalog, CatalogUnusable
    and DiskFull.
    """
    before = compare(settings, progress=progress)  # opening the catalog already repairs some
    checkpoint = _from_catalog(settings, verdicts.checkpoint)
    _scan_deep(
        settings,
        _doubted(before.differences, settings),
        accepts_removals=accepts_removals,
        progress=progress,
        waiting=waiting,
    )
    after = compare(settings, progress=progress)
    changes = _from_catalog(settings, lambda db: verdicts.changes_since(db, checkpoint))
    removed = [change for change in changes if change.outcome == "removed"]
    repaired, lost = _resolved(
        before.differences, after.differences, _from_catalog(settings, audit_packages.packaged)
    )
    return RepairResult(
        replace(before, folders=after.folders, held=after.held, last_good=after.last_good),
        after.differences,
        tuple(change for change in changes if change.outcome != "removed"),
        tuple(removed),
        tuple(change for change in removed if (change.root, change.path) in checkpoint.held),
        repaired,
        lost,
    )


def _scan_deep(
    settings: Settings,
    doubted: Sequence[WatchUnit],
    *,
    accepts_removals: bool,
    progress: Callable[[int], None],
    waiting: Callable[[int], None],
) -> None:
    """Run a deep full scan, here or in a running service."""

    def work(store: Store) -> None:
        store.skills.doubt(doubted)
        scan_once(
            settings,
            store,
            deep=True,
            accepts_removals=accepts_removals,
            progress=lambda so_far: progress(so_far.folders),
        )

    run_or_request(
        settings,
        REPAIR,
        {
            "accept_removals": accepts_removals,
            "places": [list(unit) for unit in doubted],
            "deep": True,
        },
        work,
        needs_root=not accepts_removals,
        waiting=waiting,
    )


def _doubted(differences: Sequence[Difference], settings: Settings) -> list[WatchUnit]:
    """Return the skill folders whose rows in the catalog are wrong, to be read again."""
    roots = {root.path for root in settings.root_specs}
    return [
        WatchUnit(difference.folder, difference.path)
        for difference in differences
        if difference.kind == "catalog" and difference.path and difference.folder in roots
    ]


def _from_catalog(settings: Settings, query: Callable[[Catalog], T]) -> T:
    db = database_connection.open_catalog(settings.catalog_path)
    with explained(settings.catalog_path), closing(db.conn):
        return query(db)


def _resolved(
    before: Sequence[Difference], left: Sequence[Difference], packaged: Container[str]
) -> tuple[tuple[Difference, ...], tuple[Difference, ...]]:
    """Return the repaired differences, and those of packages that no longer exist."""
    resolved = [difference for difference in before if difference not in left]
    lost = tuple(
        difference
        for difference in resolved
        if difference.package_path and difference.package_path not in packaged
    )
    return tuple(difference for difference in resolved if difference not in lost), lost
