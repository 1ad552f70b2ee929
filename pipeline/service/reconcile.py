"""Comparison of roots, catalog, packages, indexes and links, and repair of differences."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TypeVar

from catalog.audit import published_files, verdicts
from catalog.audit.verdicts import Difference, StoredFolder
from catalog.database import connection as database_connection
from catalog.database.connection import explained
from catalog.database.lock import is_locked, lock_of
from catalog.database.queries import Database
from catalog.model.change import ChangeResult, Judged
from catalog.model.errors import RootUnreadable
from catalog.model.finding import Finding
from catalog.model.skill import Rejection, RootSpec
from catalog.model.values import Json
from catalog.writing import events
from catalog.writing.packages.inspection import packaged
from catalog.writing.store import Store
from catalog.writing.tables.removals import NO_ROOT
from pipeline.config.settings import Settings
from pipeline.roots import source
from pipeline.roots.local.folder import LooseFinding
from pipeline.service.open_catalog import packaging_of
from pipeline.service.requests import REPAIR, run_or_request
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.engines import Engine, processes
from pipeline.service.scanning.scanner import (
    ScanOptions,
    ScanResult,
    ScanScope,
    UnreadableDirectory,
    Unsettled,
)
from pipeline.watch.settling import WatchUnit

T = TypeVar("T")

RETRY_AFTER = 0.5
"""Seconds, added to the quiet time, before differences are checked again while another process
writes the catalog: meanwhile it may repair them."""
MOST_COMPARISONS = 3
"""Most comparisons while the last two have different results."""


@dataclass(slots=True)
class Comparison:
    """Differences, and the known deviations that the catalog reports itself."""

    differences: tuple[Difference, ...] = ()  # after a repair, those that are left
    held: int = 0  # removals that wait for acceptance
    last_good: int = 0  # folders with an older version, as the newest content is rejected
    folders: int = 0  # skill folders compared
    changes: tuple[ChangeResult, ...] = ()  # of skills by a repair, without removals
    removed: tuple[ChangeResult, ...] = ()
    accepted: tuple[ChangeResult, ...] = ()  # the removed skills whose removal was held
    repaired: tuple[Difference, ...] = ()
    lost: tuple[Difference, ...] = ()  # packages removed because their files no longer exist


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
    for _ in range(MOST_COMPARISONS - 1):
        if not comparison.differences:
            break
        before = set(comparison.differences)
        places = {(difference.kind, difference.where) for difference in before}
        is_written = is_locked(lock_of(settings.catalog_path))
        time.sleep(settings.settle_quiet + is_written * RETRY_AFTER)
        comparison = compare_once(settings, engine=engine, progress=progress)
        comparison.differences = tuple(
            difference
            for difference in comparison.differences
            if (difference.kind, difference.where) in places
        )
        if before.issuperset(comparison.differences):
            break
    return comparison


def compare_once(
    settings: Settings,
    *,
    engine: Engine = processes,
    progress: Callable[[int], None] = lambda _: None,
) -> Comparison:
    """Compare once, without the repeated checks of `compare`."""
    db = database_connection.open_catalog(settings.catalog_path)
    with explained(settings.catalog_path), closing(db.conn):
        folders = _Folders(settings, db, engine, progress)
        packaging = packaging_of(settings)
        folders.result.differences = (
            *folders.differences(),
            *verdicts.of_catalog(db),
            *published_files.of_packages(db, packaging),
            *published_files.of_indexes(db, settings.index_folder),
            *published_files.of_links(db, packaging),
        )
    return folders.result


class _Folders:
    """Comparison of the skill folders with their rows."""

    def __init__(
        self, settings: Settings, db: Database, engine: Engine, progress: Callable[[int], None]
    ) -> None:
        self._settings = settings
        self._db = db
        self._engine = engine
        self._progress = progress
        self.result = Comparison()
        """The numbers of folders and known deviations so far."""

    def differences(self) -> Iterator[Difference]:
        """Yield the differences."""
        for root in self._settings.root_specs:
            yield from self._of_root(root)
        roots = [root.path for root in self._settings.root_specs]
        for root_path, path, is_held in verdicts.unconfigured(self._db, roots):
            if is_held:
                self.result.held += 1
            else:
                yield Difference("catalog", root_path, path, NO_ROOT.message)

    def _of_root(self, root: RootSpec) -> Iterator[Difference]:
        unscanned = verdicts.stored_folders(self._db, root.path)
        loose: list[tuple[str, Finding]] = []
        unreadable: list[WatchUnit] = []
        options = ScanOptions(self._settings.limits, self._settings.settle_quiet, deep=True)
        # For a rejected archive, the scan yields a result for each known skill in it.
        known = {path: row.fingerprint for path, row in unscanned.items()}
        try:
            for result in self._engine(ScanScope(root, ("",), known), options):
                if isinstance(result, LooseFinding):
                    loose.append((result.path, result.finding))
                elif isinstance(result, UnreadableDirectory):
                    unreadable.append(WatchUnit(root.path, result.path))
                elif result:
                    yield from self._of_folder(root, result, unscanned)
        except RootUnreadable as error:
            if source.can_list(root.path):
                yield Difference("folder", root.path, "", str(error))
        else:
            if not verdicts.has_loose_findings(self._db, root.path, loose):
                message = "the catalog has the wrong findings outside skills"
                yield Difference("catalog", root.path, "", message)
        for path, row in unscanned.items():
            if any(WatchUnit(root.path, path).lies_in(each) for each in unreadable):
                continue
            if row.is_held:
                self.result.held += 1
            else:
                message = f"it is gone, but its status is {row.status}"
                yield Difference("catalog", root.path, path, message)

    def _of_folder(
        self, root: RootSpec, result: ScanResult, unscanned: dict[str, StoredFolder]
    ) -> Iterator[Difference]:
        self.result.folders += 1
        self._progress(self.result.folders)
        if isinstance(result, Unsettled):
            unscanned.pop(result.path, None)
            message = result.failure or "it is still changing"
            yield Difference("catalog", root.path, result.path, message)
            return
        assert isinstance(result, Judged)
        verdict = result.verdict
        path = verdict.place.path
        row = unscanned.pop(path, None)
        for contradiction in verdicts.contradictions(self._db, verdict):
            yield Difference("catalog", root.path, path, contradiction)
        if row and row.is_pending:
            yield Difference("catalog", root.path, path, "it is settled but shown as pending")
        if row and row.fingerprint != verdict.fingerprint:
            yield Difference("catalog", root.path, path, "it was touched and not scanned since")
        has_last_good = row and row.status != "rejected" and isinstance(verdict, Rejection)
        self.result.last_good += bool(has_last_good)


def repair(
    settings: Settings,
    *,
    accepts_removals: bool = False,
    progress: Callable[[int], None] = lambda _: None,
    waiting: Callable[[int], None] = lambda _: None,
) -> Comparison:
    """Run a full scan that trusts nothing stored; return its changes and the remaining differences.

    A running service does that scan; waiting is called with the seconds taken so far. Raises
    CatalogBusy if another process writes the catalog, NotPossible, NotInCatalog and
    CatalogUnusable.
    """
    before = compare(settings, progress=progress)  # opening the catalog already repairs some
    checkpoint = _from_catalog(settings, events.checkpoint)
    doubted = _doubted(before.differences, settings)

    def work(store: Store) -> None:
        store.skills.doubt(doubted)
        scan_once(
            settings,
            store,
            deep=True,
            accepts_removals=accepts_removals,
            progress=lambda so_far: progress(so_far.folders),
        )

    arguments: dict[str, Json] = {
        "accept_removals": accepts_removals,
        "places": [list(unit) for unit in doubted],
        "deep": True,
    }
    run_or_request(
        settings, REPAIR, arguments, work, needs_root=not accepts_removals, waiting=waiting
    )
    after = compare(settings, progress=progress)
    changes = _from_catalog(settings, lambda db: events.changes_since(db, checkpoint))
    made = _from_catalog(settings, packaged)
    removed = tuple(change for change in changes if change.outcome == "removed")
    resolved = [each for each in before.differences if each not in after.differences]
    lost = [each for each in resolved if each.package_path and each.package_path not in made]
    return replace(
        after,
        changes=tuple(change for change in changes if change.outcome != "removed"),
        removed=removed,
        accepted=tuple(each for each in removed if (each.root, each.path) in checkpoint.held),
        repaired=tuple(each for each in resolved if each not in lost),
        lost=tuple(lost),
    )


def _doubted(differences: Sequence[Difference], settings: Settings) -> list[WatchUnit]:
    """Return the skill folders whose rows in the catalog are wrong, to be read again."""
    roots = {root.path for root in settings.root_specs}
    return [
        WatchUnit(difference.folder, difference.path)
        for difference in differences
        if difference.kind == "catalog" and difference.path and difference.folder in roots
    ]


def _from_catalog(settings: Settings, query: Callable[[Database], T]) -> T:
    db = database_connection.open_catalog(settings.catalog_path)
    with explained(settings.catalog_path), closing(db.conn):
        return query(db)
