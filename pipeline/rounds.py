"""The one throat: looks at units of the roots and brings the catalog up to what is there."""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from catalog.errors import RootUnreadable
from catalog.file_names import top_of_archive
from catalog.naming import qualified_name, skill_id
from catalog.record import Applied, Change, Finding, Gone, Judged, RootSpec, Trigger
from catalog.store import Known, Store
from pipeline import disk
from pipeline.disk import Limits, Stray
from pipeline.engines import Engine, serial
from pipeline.ingest import folder_name
from pipeline.missing import Missing, Report, outermost, trouble_in
from pipeline.mounts import device
from pipeline.scan import Hidden, How, Newcomer, Part, Unchanged, Unsettled, place_of
from pipeline.settle import Unit, with_archives

BATCH = 512
"""Changes in one transaction at most: enough to spread its cost, few enough to stop soon."""
PAUSE = 0.5
"""Seconds after which a pause comes even if a batch is not full."""


class Round:
    """One look at some units. `run` may be paused after any batch: the catalog is whole then."""

    def __init__(self, store: Store, roots: Sequence[RootSpec], limits: Limits, *,
                 quiet: float, trigger: Trigger, engine: Engine = serial,
                 scan_id: int | None = None, deep: bool = False,
                 heard_of: Callable[[Applied], bool] = lambda _: True,
                 going: Collection[Unit] = (), accepts_removals: bool = False) -> None:
        """Take the catalog, the configured roots, and how to look; quiet is in seconds.

        heard_of tells whether a change was announced by events before it was found. going are
        units of which more events may come; accepts_removals releases the brake.
        """
        self.report = Report()
        self._store = store
        self._roots = {root.path: root for root in roots}
        self._how = How(limits, quiet, deep)
        self._engine = engine
        self._trigger = trigger
        self._scan_id = scan_id
        self._heard_of = heard_of
        self._missing = Missing(store, self.report, limits, trigger=trigger, scan_id=scan_id,
                                going=going, accepts_removals=accepts_removals)
        self._batch: list[Change] = []
        self._newcomers: dict[str, list[str]] = defaultdict(list)  # paths by root
        self._paused_at = time.monotonic()

    def run(self, units: Sequence[Unit]) -> Iterator[None]:
        """Bring the catalog up to the present content of the units.

        Where anything could have moved, folders at paths never seen before are read last, when
        it is known which old ones are gone: so a rename is told from a removal and an arrival.
        """
        units = outermost(with_archives(units))
        self._missing.looked_at = units
        known = {unit: self._store.known(*unit) for unit in units}
        how = replace(self._how, newcomers=not any(known.values()))
        for unit, folders in known.items():
            yield from self._survey(unit, folders, how)
        yield from self._read_newcomers()
        self._apply()
        yield from self.remove(self._missing.to_remove())
        for root in dict.fromkeys(unit.root for unit in units):
            self._store.set_root_trouble(root, trouble_in(self._store, root, self.report))

    def remove(self, places: Sequence[Unit]) -> Iterator[None]:
        """Mark the skills in places as removed."""
        for place in places:
            self._batch.append(Gone(*place))
            yield from self._pause()
        self._apply()

    def _survey(self, unit: Unit, known: Mapping[str, Known], how: How) -> Iterator[None]:
        """Look at a unit and note what is missing there."""
        missing = dict(known)
        strays: list[tuple[str, Finding]] = []
        hidden: list[Unit] = []
        settled: list[str] = []
        part = Part(self._roots[unit.root], (unit.path,),
                    {path: row.fingerprint for path, row in known.items()})
        try:
            for seen in self._engine(part, how):
                if isinstance(seen, Stray):
                    strays.append((seen.path, seen.finding))
                elif isinstance(seen, Hidden):
                    hidden.append(Unit(unit.root, seen.path))
                elif seen:
                    path = self._take(unit.root, seen, is_new=_path_of(seen) not in known)
                    if not isinstance(seen, Newcomer):
                        missing.pop(path, None)
                    if isinstance(seen, Unchanged) and known[seen.path].is_pending:
                        settled.append(seen.path)
                yield from self._pause()
        except RootUnreadable as error:
            self.report.troubles[unit.root] = str(error)
            if not disk.can_list(Path(unit.root)):
                self._missing.lose(unit.root, known)
            return
        self._store.set_strays(*unit, strays)
        if settled:
            self._store.clear_pending(unit.root, settled)
        for path, row in missing.items():
            place = Unit(unit.root, path)
            if not any(place.lies_in(directory) for directory in hidden):
                self._missing.add(place, row)

    def _read_newcomers(self) -> Iterator[None]:
        for root, paths in self._newcomers.items():
            new = set(paths)
            # Of an archive that is not as it was, all that was known in it is still missing.
            part = Part(self._roots[root], tuple(
                unit.path for unit in outermost([Unit(root, path) for path in paths])),
                self._missing.in_archives(root, new))
            try:
                for seen in self._engine(part, self._how):
                    # A skill inside a newcomer may be an old one, which has been seen.
                    if seen and not isinstance(seen, (Stray, Hidden)) and (
                        not new.isdisjoint((path := _path_of(seen), top_of_archive(path)))
                    ):
                        self._take(root, seen, is_new=not self._missing.find(Unit(root, path)))
                    yield from self._pause()
            except RootUnreadable as error:
                self.report.troubles[root] = str(error)

    def _take(self, root: str, seen: Unchanged | Unsettled | Newcomer | Judged, *,
              is_new: bool) -> str:
        """Note what a folder was seen to be, and return its path."""
        path = _path_of(seen)
        if isinstance(seen, Newcomer):
            self._newcomers[root].append(path)
            return path
        self.report.seen += 1
        if isinstance(seen, Unchanged):
            self.report.outcomes["unchanged"] += 1
        elif isinstance(seen, Unsettled):
            self.report.unsettled.append(Unit(root, path))
        else:
            if is_new:
                seen = seen._replace(moved_from=self._missing.claim(seen.verdict.digest, path))
            self._batch.append(seen)
        return path

    def _pause(self) -> Iterator[None]:
        """Pause when a batch is full, or the last pause is some time ago."""
        if len(self._batch) >= BATCH or time.monotonic() - self._paused_at >= PAUSE:
            self._apply()
            yield
            self._paused_at = time.monotonic()

    def _apply(self) -> None:
        for one in self._store.apply(self._batch, trigger=self._trigger, at=datetime.now(UTC),
                                     scan=self._scan_id):
            if one.outcome == "unsettled":
                self.report.unsettled.append(Unit(one.root, one.path))
                continue
            self.report.outcomes[one.outcome] += 1
            if one.outcome != "unchanged":
                self.report.changes.append(one)
                self.report.missed_by_events += not self._heard_of(one)
        self._batch.clear()


def _path_of(seen: Unchanged | Unsettled | Newcomer | Judged) -> str:
    return seen.verdict.place.path if isinstance(seen, Judged) else seen.path


class FullScan:
    """One pass over all roots, with its row in `scans`."""

    def __init__(self, store: Store, roots: Sequence[RootSpec], limits: Limits, *, quiet: float,
                 trigger: Trigger, engine: Engine = serial, deep: bool = False,
                 heard_of: Callable[[Applied], bool] = lambda _: True,
                 going: Collection[Unit] = (), accepts_removals: bool = False,
                 is_poll: bool = False) -> None:
        """Take what a Round takes; a poll leaves no row behind unless something had changed."""
        self._is_poll = is_poll
        self._accepts_removals = accepts_removals
        self._store = store
        self._roots = roots
        self._deep = deep
        # What is done to packages while we run nobody hears of; the next start sees it.
        self._checks_packages = deep or trigger == "start"
        self.scan_id = store.begin_scan(trigger, datetime.now(UTC))
        self.round = Round(store, roots, limits, quiet=quiet, trigger=trigger,
                           engine=engine, scan_id=self.scan_id, deep=deep, heard_of=heard_of,
                           going=going, accepts_removals=accepts_removals)
        self.report = self.round.report
        self._took_ms = 0.0

    def run(self) -> Generator[None, None, None]:
        """Make the pass, pausing after each batch with the catalog whole."""
        began = time.perf_counter()
        was_lost = self._store.was_lost()
        if self._deep:
            for _ in self._store.mend_packages(datetime.now(UTC)):
                yield
        if self._checks_packages:
            for again in self._store.check_packages(datetime.now(UTC), deep=self._deep):
                self.report.unsettled += [Unit(*place) for place in again]
                yield
        yield from self.round.remove([Unit(*place) for place in self._store.forsaken()])
        yield from self.round.run([Unit(root.path, "") for root in self._roots])
        if was_lost and all(disk.can_list(Path(root.path)) for root in self._roots):
            for _ in self._store.mend_packages(datetime.now(UTC)):
                yield  # what the lost catalog had published has gone now
        self._took_ms = (time.perf_counter() - began) * 1000
        self.write_row()

    def write_row(self) -> None:
        """Write what the pass came to; again, where more was added to its report."""
        for root in self._roots:
            self._note_root(root.path)
        self._store.finish_scan(self.scan_id, datetime.now(UTC), self._took_ms, self.report.seen,
                                self.report.outcomes, self.report.missed_by_events)
        if self._is_poll and not (+self.report.outcomes).keys() - {"unchanged"}:
            self._store.drop_scan(self.scan_id)

    def _note_root(self, root: str) -> None:
        removals = self._store.removals
        if self._accepts_removals:
            removals.note_accepted(root, datetime.now(UTC))
        trouble = trouble_in(self._store, root, self.report)
        self._store.set_root_trouble(root, trouble)
        if not trouble:
            removals.note_device(root, device(root))


def show_pending(store: Store, roots: Sequence[RootSpec], unit: Unit, since: datetime) -> None:
    """Tell the catalog that a folder does not stop changing."""
    root = next(root for root in roots if root.path == unit.root)
    place = place_of(root, unit.path)
    name = folder_name(place)
    store.set_pending(place, qualified_name(name, place.plugin),
                      skill_id(name, place.plugin, unit.path), since, "still changing")
