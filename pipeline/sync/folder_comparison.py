"""Comparison of the folders of all roots with the catalog, without writing."""

from collections.abc import Callable, Iterator

from catalog.audit import verdicts
from catalog.audit.difference import Difference
from catalog.model.change import Judged
from catalog.model.errors import RootUnreadable
from catalog.model.finding import Finding
from catalog.model.skill import Rejection, RootSpec
from catalog.reading.browse import Catalog
from catalog.writing.tables.removals import NO_ROOT
from pipeline.config.settings import Settings
from pipeline.roots import source
from pipeline.roots.local.tree_walk import LooseFinding
from pipeline.roots.units import WatchUnit
from pipeline.sync.engines.processes import Engine
from pipeline.sync.engines.results import ScanOptions, ScanScope, UnreadableDirectory, Unsettled


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
