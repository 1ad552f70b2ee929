"""Comparison of the roots with the catalog, and of the catalog with its publications."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from catalog.audit import consistency, indexes, verdicts
from catalog.audit import packages as audit_packages
from catalog.audit.difference import Difference
from catalog.database import connection as database_connection
from catalog.database.connection import explained
from catalog.model.change import ChangeResult, Judged
from catalog.model.errors import RootUnreadable
from catalog.model.finding import Finding
from catalog.model.skill import Rejection, RootSpec
from catalog.writing.rows.removals import NO_ROOT
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.roots import reader
from pipeline.roots.local.descent import LooseFinding
from pipeline.roots.local.folder import Limits
from pipeline.roots.units import WatchUnit
from pipeline.sync.engines.processes import Engine, processes
from pipeline.sync.engines.scanner import ScanOptions, ScanScope, UnreadableDirectory, Unsettled
from pipeline.sync.open_catalog import packaging_of
from pipeline.sync.request_handlers import MEND, run_or_request
from pipeline.sync.run_once import scan_once

AGAIN_AFTER = 0.5
"""Seconds, beside the quiet time, after which differences are looked at again: a service that
runs may have been about to mend them."""
MOST_LOOKS = 3
"""Looks at a place about which the last two did not agree."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What does not agree, and what does not but says so itself."""

    differences: tuple[Difference, ...]
    held: int  # removals that wait to be accepted
    last_good: int  # folders whose newest content is rejected, so that an older one stands in
    seen: int  # skill folders


def compare(
    settings: Settings,
    *,
    engine: Engine = processes,
    progress: Callable[[int], None] = lambda _: None,
) -> Comparison:
    """Read and judge every folder again, and return where the catalog differs.

    A place that differs is looked at again after a while, as a service may be at work or the
    folder may still be changing, until the same is true of it twice. Nothing is written. Raises
    NotInCatalog and CatalogUnusable.
    """
    look = _Look(settings, engine, progress)
    found = look.differences()
    for _ in range(MOST_LOOKS - 1):
        if not found:
            break
        time.sleep(settings.settle_quiet + AGAIN_AFTER)
        before, look = set(found), _Look(settings, engine, progress)
        places = {(each.kind, each.where) for each in before}
        found = [each for each in look.differences() if (each.kind, each.where) in places]
        if before.issuperset(found):
            break
    return Comparison(tuple(found), look.held, look.last_good, look.seen)


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What a full pass that believes nothing came to."""

    before: Comparison
    left: tuple[Difference, ...]
    changes: tuple[ChangeResult, ...]  # what became of skills, but for those that were removed
    removed: tuple[ChangeResult, ...]
    accepted: tuple[ChangeResult, ...]  # those of the removed whose removal had been held

    @property
    def mended(self) -> tuple[Difference, ...]:
        """What differed before, and does no longer."""
        left = set(self.left)
        return tuple(each for each in self.before.differences if each not in left)


def mend(
    settings: Settings,
    *,
    accepts_removals: bool = False,
    progress: Callable[[int], None] = lambda _: None,
    waiting: Callable[[int], None] = lambda _: None,
) -> RepairResult:
    """Make a full pass that believes nothing, and tell what it did and what still differs.

    Where a service runs it makes that pass, and waiting is told how many seconds it has taken.
    Raises CatalogBusy where something else writes the catalog, RequestFailed, NotInCatalog,
    CatalogUnusable and DiskFull.
    """
    before = compare(settings, progress=progress)  # opening mends a little already
    doubted = places(before.differences, settings)
    moment = _moment(settings)

    def alone(store: Store) -> None:
        store.skills.doubt(doubted)
        scan_once(
            settings,
            store,
            deep=True,
            accepts_removals=accepts_removals,
            progress=lambda so_far: progress(so_far.seen),
        )

    run_or_request(
        settings,
        MEND,
        {"accept_removals": accepts_removals, "places": [list(place) for place in doubted]},
        alone,
        needs_root=not accepts_removals,
        waiting=waiting,
    )
    after = compare(settings, progress=progress)
    changes = _changes(settings, moment)
    removed = [change for change in changes if change.outcome == "removed"]
    return RepairResult(
        replace(before, seen=after.seen, held=after.held, last_good=after.last_good),
        after.differences,
        tuple(change for change in changes if change.outcome != "removed"),
        tuple(removed),
        tuple(change for change in removed if (change.root, change.path) in moment.held),
    )


def places(differences: Sequence[Difference], settings: Settings) -> list[WatchUnit]:
    """Return the folders that differences of the catalog speak of."""
    return [
        WatchUnit(root.path, difference.where.removeprefix(f"{root.path}/"))
        for difference in differences
        if difference.kind == "catalog"
        for root in settings.root_specs
        if difference.where.startswith(f"{root.path}/")
    ]


def _moment(settings: Settings) -> verdicts.Moment:
    db = database_connection.open_catalog(settings.catalog_path)
    with explained(settings.catalog_path), closing(db.conn):
        return verdicts.moment(db)


def _changes(settings: Settings, since: verdicts.Moment) -> list[ChangeResult]:
    db = database_connection.open_catalog(settings.catalog_path)
    with explained(settings.catalog_path), closing(db.conn):
        return verdicts.changes_since(db, since)


class _Look:
    """One comparison of everything with everything."""

    def __init__(self, settings: Settings, engine: Engine, progress: Callable[[int], None]) -> None:
        self._settings = settings
        self._db = database_connection.open_catalog(settings.catalog_path)
        self._engine = engine
        self._progress = progress
        self.seen = self.held = self.last_good = 0

    def differences(self) -> list[Difference]:
        """Return all that differs. Asked once."""
        with explained(self._settings.catalog_path), closing(self._db.conn):
            packaging = packaging_of(self._settings)
            return [
                *self._folders(),
                *consistency.of_catalog(self._db),
                *audit_packages.of_packages(self._db, packaging.folder, packaging.packages),
                *indexes.of_indexes(self._db, self._settings.index_folder),
            ]

    def _folders(self) -> Iterator[Difference]:
        for root in self._settings.root_specs:
            yield from self._root(root)
        for root_path, path, is_held in verdicts.unconfigured(self._db):
            if is_held:
                self.held += 1
            else:
                yield Difference("catalog", f"{root_path}/{path}", NO_ROOT.message)

    def _root(self, root: RootSpec) -> Iterator[Difference]:
        limits = Limits(**self._settings.limits.model_dump())
        missing = verdicts.present(self._db, root.path)
        strays: list[tuple[str, Finding]] = []
        hidden: list[WatchUnit] = []
        try:
            how = ScanOptions(limits, self._settings.settle_quiet, deep=True)
            # Of a refused archive each skill that is known in it is told, as in a scan.
            known = {path: row.fingerprint for path, row in missing.items()}
            for seen in self._engine(ScanScope(root, ("",), known), how):
                if isinstance(seen, LooseFinding):
                    strays.append((seen.path, seen.finding))
                elif isinstance(seen, UnreadableDirectory):
                    hidden.append(WatchUnit(root.path, seen.path))
                elif seen:
                    yield from self._folder(root, seen, missing)
        except RootUnreadable as error:
            yield from self._lost(root, missing, str(error))
            return
        if not verdicts.stray_findings(self._db, root.path, strays):
            yield Difference("catalog", root.path, "the catalog has other findings of no skill")
        for path, row in missing.items():
            if not any(WatchUnit(root.path, path).lies_in(directory) for directory in hidden):
                yield from self._gone(root, path, row)

    def _folder(
        self, root: RootSpec, seen: object, missing: dict[str, verdicts.Present]
    ) -> Iterator[Difference]:
        self.seen += 1
        self._progress(self.seen)
        if isinstance(seen, Unsettled):
            missing.pop(seen.path, None)
            yield Difference(
                "catalog", f"{root.path}/{seen.path}", seen.why or "it is still changing"
            )
            return
        assert isinstance(seen, Judged)
        verdict = seen.verdict
        row = missing.pop(verdict.place.path, None)
        where = f"{root.path}/{verdict.place.path}"
        if row and row.is_delayed:
            return  # as the catalog says
        for what in verdicts.contradictions(self._db, verdict):
            yield Difference("catalog", where, what)
        if row and row.is_pending:
            yield Difference("catalog", where, "it is at rest, and shown as pending")
        if row and row.fingerprint != verdict.fingerprint:
            yield Difference("catalog", where, "it was touched, and not looked at since")
        self.last_good += bool(row and row.status != "rejected" and isinstance(verdict, Rejection))

    def _lost(
        self, root: RootSpec, missing: dict[str, verdicts.Present], trouble: str
    ) -> Iterator[Difference]:
        """Compare with a root that cannot be read: what it held is gone, or cannot be known."""
        if reader.can_list(Path(root.path)):
            yield Difference("folder", root.path, trouble)
        for path, row in missing.items():
            yield from self._gone(root, path, row)

    def _gone(self, root: RootSpec, path: str, row: verdicts.Present) -> Iterator[Difference]:
        if row.is_held:
            self.held += 1
        else:
            yield Difference(
                "catalog", f"{root.path}/{path}", f"it is gone, and its status is {row.status}"
            )
