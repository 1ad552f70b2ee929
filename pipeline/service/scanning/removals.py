"""Removals: missing folders as moved, removed or held."""

import os
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache

from catalog.model.errors import RootUnreadable
from catalog.model.paths import os_path, text_path, top_of_archive
from catalog.model.skill import LOST_ROOT
from catalog.writing.store import Store
from catalog.writing.tables.removals import HoldReason
from catalog.writing.tables.skills import KnownSkills
from pipeline.roots.local.mounts import file_systems
from pipeline.roots.source import open_source
from pipeline.service.scanning.change_batches import Report, ScanPlan
from pipeline.watch.settling import WatchUnit, outermost, with_archives

FEWEST = 20
"""Fewer missing skills than this are always removed."""
SPAN = 600.0
"""Seconds; all removals from a root within this span count together."""


class RemovalDetector:
    """The skills missing from their known places during a scan of some units."""

    def __init__(self, plan: ScanPlan, report: Report, scanned: Sequence[WatchUnit]) -> None:
        """Take the report that counts held removals, and the units that are scanned."""
        self._plan = plan
        self._store = plan.store
        self._report = report
        self._scanned = scanned
        self._is_full = all(not unit.path for unit in scanned)
        self._fingerprints: dict[WatchUnit, str] = {}
        self._held: set[WatchUnit] = set()
        self._by_digest: dict[str, list[WatchUnit]] = defaultdict(list)
        self._elsewhere = cache(self._places_elsewhere)  # one query, even for equal folders
        self._lost_roots: set[str] = set()  # roots that cannot be listed
        self._moved_roots: set[str] = set()  # gone, and no longer configured

    def add(self, root: str, paths: Collection[str], known: KnownSkills) -> None:
        """Add skills that are missing from their places."""
        for path in paths:
            self._fingerprints[WatchUnit(root, path)] = known.fingerprints[path]
            if path in known.held:
                self._held.add(WatchUnit(root, path))
        if root in self._lost_roots:
            return
        digests = self._store.skills.seen_digests(root, paths) if paths else {}
        for path in filter(digests.get, paths):
            self._by_digest[digests[path]].append(WatchUnit(root, path))

    def add_root(self, root: str, known: KnownSkills) -> None:
        """Add all skills of a root that cannot be listed."""
        self._lost_roots.add(root)
        self.add(root, known.fingerprints.keys(), known)

    def add_moved_roots(self) -> None:
        """Add the held skills of roots that are gone and no longer configured."""
        for root in self._store.roots.unconfigured(with_held=True).keys() - {LOST_ROOT}:
            if not os.path.lexists(root):
                self._moved_roots.add(root)
                known = self._store.skills.known(root, "")
                self.add(root, known.held, known)

    def discard(self, place: WatchUnit) -> bool:
        """Drop a skill that is not missing after all; return whether it was listed."""
        return self._fingerprints.pop(place, None) is not None

    def in_archives(self, root: str, tops: Collection[str]) -> dict[str, str]:
        """Return the fingerprints of missing skills in the archives at tops, by path."""
        return {
            place.path: fingerprint
            for place, fingerprint in self._fingerprints.items()
            if place.root == root and top_of_archive(place.path) in tops
        }

    # Moved

    def claim(self, digest: str | None, path: str) -> WatchUnit | None:
        """Return the previous place of a new folder with this content, if it has moved."""
        same = self._by_digest.get(digest or "", [])
        same.sort(key=lambda place: _name(place.path) != _name(path))  # a moved parent first
        while same:
            before = same.pop(0)
            if self.discard(before) and not self._exists(before):
                return before
        elsewhere = self._elsewhere(digest) if digest else ()
        return next((place for place in elsewhere if not self._exists(place)), None)

    def _places_elsewhere(self, digest: str) -> list[WatchUnit]:
        """Return the places outside the scanned units where the catalog has this content.

        A scan may reach the new place of a folder before the old one, which still settles, or long
        after the removal from the old one was held.
        """
        if self._is_full:
            return []
        settling = self._plan.still_settling
        return [
            place
            for root, path, is_held in self._store.skills.places_of(digest)
            if (place := WatchUnit(root, path))
            and (is_held or any(unit in settling for unit in (place, *place.wholes())))
            and not any(place.lies_in(unit) for unit in self._scanned)
        ]

    def _exists(self, place: WatchUnit) -> bool:
        """Return whether a folder is a skill folder now; True if its root cannot be read."""
        if place.root in self._moved_roots:
            return False
        try:
            with open_source(place.root, self._plan.limits) as source:
                return source.folder(place.path) is not None
        except RootUnreadable as error:
            self._report.troubles.setdefault(place.root, str(error))
            return True

    # Removed or held

    def decide(self) -> Iterator[WatchUnit]:
        """Yield the missing skills to be removed; hold or postpone the removal of others."""
        missing: dict[str, list[WatchUnit]] = defaultdict(list)
        for place in self._fingerprints:
            if place.root in self._lost_roots or not self._exists(place):
                missing[place.root].append(place)
        for root, places in missing.items():
            if self._plan.accepts_removals:
                yield from places
            elif newly_missing := [place for place in places if place not in self._held]:
                yield from self._not_held(root, newly_missing)

    def _not_held(self, root: str, missing: Sequence[WatchUnit]) -> Sequence[WatchUnit]:
        """Hold removals that are not certain or too many; return the others."""
        to_hold: dict[HoldReason, list[str]] = defaultdict(list)
        removed: list[WatchUnit] = []
        reasons = self._reasons_to_hold(root)
        for place in missing:
            if reason := _reason_at(place, reasons) if reasons else None:
                to_hold[reason].append(place.path)
            else:
                removed.append(place)
        for reason, paths in to_hold.items():
            hold(self._plan, self._report, root, paths, reason)
        return self._guarded(root, removed) if removed else ()

    def _reasons_to_hold(self, root: str) -> dict[str, HoldReason]:
        """Return why skills at and below some paths of a root may still exist, unseen."""
        if root in self._lost_roots:
            state = "cannot be read" if os.path.lexists(root) else "is missing"
            return {"": HoldReason("lost_root", f"its root {state}")}
        noted, present = self._store.removals.mounts(root), file_systems(root)
        reasons = {}
        for path in {path for path, _ in noted.items() ^ present.items()}:
            if path:
                is_other = path in present
                what = (
                    "another file system is mounted" if is_other else "nothing is mounted any more"
                )
                reasons[path] = HoldReason("lost_mount", f"{what} at {root}/{path}")
            elif path in noted:
                message = "its root lies on another file system than before"
                reasons[path] = HoldReason("lost_root", message)
        return reasons

    def _guarded(self, root: str, missing: Sequence[WatchUnit]) -> Sequence[WatchUnit]:
        """Return skills that were probably removed on purpose; hold them if they are too many."""
        now = datetime.now(UTC)
        tally = self._store.removals.tally(root, now, SPAN)
        could_be_many = tally.known + tally.removed_lately >= FEWEST
        unsettled_count = self._count_still_settling(root) if could_be_many else 0
        paths = [place.path for place in missing]
        if reason := reason_to_hold(
            missing=tally.held + len(missing) + unsettled_count,
            known=tally.known,
            removed_lately=tally.removed_lately,
        ):
            hold(self._plan, self._report, root, paths, reason)
            return ()
        if unsettled_count or (self._is_full and self._report.unsettled):
            self._report.postponed += missing  # they may be renamed ones that still settle
            return ()
        self._store.removals.note_going(root, paths, now)
        return missing

    def _count_still_settling(self, root: str) -> int:
        """Count the other missing skills, in units that still settle and may lose more."""
        return sum(
            not self._exists(place)
            for unit in outermost(
                with_archives(unit for unit in self._plan.still_settling if unit.root == root)
            )
            for path in self._store.skills.known(*unit).fingerprints
            if (place := WatchUnit(root, path)) not in self._fingerprints
        )


def _reason_at(place: WatchUnit, reasons: Mapping[str, HoldReason]) -> HoldReason | None:
    """Return the reason at the deepest path above a place; its links are resolved."""
    real = os.path.realpath(f"{place.root}/{os_path(place.path)}")
    below = text_path(real.removeprefix(f"{os.path.realpath(place.root)}/"))
    unit = WatchUnit(place.root, below)
    return next(
        (reasons[each.path] for each in (unit, *unit.wholes()) if each.path in reasons), None
    )


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def hold(
    plan: ScanPlan, report: Report, root: str, paths: Sequence[str], reason: HoldReason
) -> None:
    """Hold the removal of skills of a root, and count those not held before."""
    if held := plan.store.removals.hold(
        root, paths, reason, at=datetime.now(UTC), trigger=plan.trigger, scan=plan.scan_id
    ):
        report.outcomes["held"] += held


def reason_to_hold(*, missing: int, known: int, removed_lately: int) -> HoldReason | None:
    """Return the reason to hold the removals from one root; None if they may proceed.

    `missing` counts the skills that are gone but not yet removed; `known` counts all skills not yet
    removed, including the missing ones.
    """
    disappeared = missing + removed_lately
    if missing and disappeared >= FEWEST and 2 * disappeared > known + removed_lately:
        return HoldReason(
            "mass_removal",
            f"{disappeared} of {known + removed_lately} skills disappeared at once",
        )
    return None


def note_new_mounts(store: Store, root: str) -> None:
    """Note new mounts below a root before the scan finds skills on them.

    One that covers known skills is noted after a full scan that misses none of these.
    """
    known = store.removals.mounts(root)
    new = {
        path: name
        for path, name in file_systems(root).items()
        if path not in known and not store.skills.known(root, path).fingerprints
    }
    if new:
        store.removals.note_mounts(root, known | new)
