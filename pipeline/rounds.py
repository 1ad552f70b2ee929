"""The one throat: looks at units of the roots and brings the catalog up to what is there."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from catalog.errors import RootUnreadable
from catalog.naming import skill_id
from catalog.record import Applied, Change, Finding, Gone, Outcome, RootSpec, Trigger
from catalog.store import Known, Store
from pipeline import disk, scan
from pipeline.disk import Folder, Limits, Stray
from pipeline.scan import Unsettled
from pipeline.settle import Unit

BATCH = 512
"""Changes in one transaction: enough to spread its cost, few enough to stop soon."""


@dataclass
class Report:
    """What a round has come to so far."""

    seen: int = 0  # skill folders
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    changes: list[Applied] = field(default_factory=list)  # all outcomes but "unchanged"
    unsettled: list[Unit] = field(default_factory=list)  # folders to come back to
    troubles: dict[str, str] = field(default_factory=dict)  # why a root could not be read
    missed_by_events: int = 0


class Round:
    """One look at some units. `run` may be paused after any batch: the catalog is whole then."""

    def __init__(self, store: Store, roots: Sequence[RootSpec], limits: Limits, *,
                 quiet: float, trigger: Trigger, scan_id: int | None = None, deep: bool = False,
                 heard_of: Callable[[Applied], bool] = lambda _: True) -> None:
        """Take the catalog, the configured roots, and how to look; quiet is in seconds.

        heard_of tells whether a change was announced by events before it was found.
        """
        self.report = Report()
        self._store = store
        self._roots = {root.path: root for root in roots}
        self._limits = limits
        self._quiet = quiet
        self._trigger = trigger
        self._scan_id = scan_id
        self._deep = deep
        self._heard_of = heard_of
        self._batch: list[Change] = []
        self._newcomers: list[tuple[RootSpec, str]] = []
        self._missing: dict[tuple[str, str], Known] = {}

    def run(self, units: Sequence[Unit]) -> Iterator[None]:
        """Bring the catalog up to the present content of the units.

        Folders at paths never seen before are read last, when it is known which old ones are
        gone, so that a rename is told from a removal and an arrival.
        """
        known = {unit: self._store.known(*unit) for unit in outermost(units)}
        nothing_can_move = not any(known.values())
        for unit, folders in known.items():
            for root, folder in self._survey(unit, folders):
                if nothing_can_move or folder.path in folders:
                    self._read(root, folder)
                    yield from self._apply_full_batch()
                else:
                    self._newcomers.append((root, folder.path))
        yield from self._read_newcomers()
        yield from self.remove([
            place for place in self._missing
            # The survey may be old by now.
            if disk.look(Path(place[0]), place[1], self._limits) is None
        ])

    def remove(self, places: Sequence[tuple[str, str]]) -> Iterator[None]:
        """Mark the skills of places, each a root and a path, as removed."""
        for place in places:
            self._batch.append(Gone(*place))
            yield from self._apply_full_batch()
        self._apply()

    def _survey(self, unit: Unit, known: dict[str, Known]) -> Iterator[tuple[RootSpec, Folder]]:
        """Yield the folders of a unit that must be read, and note which are missing."""
        root = self._roots[unit.root]
        missing = dict(known)
        strays: list[tuple[str, Finding]] = []
        try:
            for found in scan.survey(root, unit.path, known, quiet=self._quiet,
                                     limits=self._limits, deep=self._deep):
                if isinstance(found, Stray):
                    strays.append((found.path, found.finding))
                    continue
                self.report.seen += 1
                missing.pop(found.path, None)
                if isinstance(found, Folder):
                    yield root, found
                elif isinstance(found, Unsettled):
                    self.report.unsettled.append(Unit(root.path, found.path))
                else:
                    self.report.outcomes["unchanged"] += 1
        except RootUnreadable as error:
            self.report.troubles[root.path] = str(error)
            return
        self._store.set_strays(root.path, unit.path, strays)
        hidden = [path for path, finding in strays if finding.code == "directory-unreadable"]
        for path, row in missing.items():
            if not any(path == lost or path.startswith(f"{lost}/") for lost in hidden):
                self._missing[root.path, path] = row

    def _read_newcomers(self) -> Iterator[None]:
        by_digest: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for place, row in self._missing.items():
            if row.digest:
                by_digest[row.digest].append(place)
        for root, path in self._newcomers:
            folder = disk.look(Path(root.path), path, self._limits)
            if folder:
                self._read(root, folder, by_digest)
                yield from self._apply_full_batch()

    def _read(self, root: RootSpec, folder: Folder,
              vanished: dict[str, list[tuple[str, str]]] | None = None) -> None:
        judged = scan.judge_folder(root, folder, self._limits)
        if judged is None:
            self.report.unsettled.append(Unit(root.path, folder.path))
            return
        same = (vanished or {}).get(judged.verdict.digest or "")
        if same:
            before = same.pop(0)
            del self._missing[before]
            judged = replace(judged, moved_from=before)
        self._batch.append(judged)

    def _apply_full_batch(self) -> Iterator[None]:
        if len(self._batch) >= BATCH:
            self._apply()
            yield

    def _apply(self) -> None:
        for one in self._store.apply(self._batch, trigger=self._trigger, at=datetime.now(UTC),
                                     scan=self._scan_id):
            self.report.outcomes[one.outcome] += 1
            if one.outcome != "unchanged":
                self.report.changes.append(one)
                self.report.missed_by_events += not self._heard_of(one)
        self._batch.clear()


def outermost(units: Sequence[Unit]) -> list[Unit]:
    """Return the units that lie in no other one, so that no folder is looked at twice."""
    asked = dict.fromkeys(units)
    return [unit for unit in asked if not any(whole in asked for whole in unit.wholes())]


class FullScan:
    """One pass over all roots, with its row in `scans`."""

    def __init__(self, store: Store, roots: Sequence[RootSpec], limits: Limits, *, quiet: float,
                 trigger: Trigger, deep: bool = False,
                 heard_of: Callable[[Applied], bool] = lambda _: True) -> None:
        """Take what a Round takes."""
        self._store = store
        self._roots = roots
        self._scan_id = store.begin_scan(trigger, datetime.now(UTC))
        self.round = Round(store, roots, limits, quiet=quiet, trigger=trigger,
                            scan_id=self._scan_id, deep=deep, heard_of=heard_of)
        self.report = self.round.report

    def run(self) -> Iterator[None]:
        """Make the pass, pausing after each batch with the catalog whole."""
        began = time.perf_counter()
        yield from self.round.remove(self._store.forsaken())
        yield from self.round.run([Unit(root.path, "") for root in self._roots])
        for root in self._roots:
            self._store.set_root_trouble(root.path, self.report.troubles.get(root.path))
        self._store.finish_scan(
            self._scan_id, datetime.now(UTC), (time.perf_counter() - began) * 1000,
            self.report.seen, self.report.outcomes, self.report.missed_by_events,
        )


def show_pending(store: Store, roots: Sequence[RootSpec], unit: Unit, since: datetime) -> None:
    """Tell the catalog that a folder does not stop changing."""
    root = next(root for root in roots if root.path == unit.root)
    place = scan.place_of(root, unit.path)
    store.set_pending(place, skill_id(None, place.plugin, unit.path), since, "still changing")
