"""Detector of removals: folders that moved, are gone, or whose removal is held."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from catalog.model.errors import RootUnreadable
from catalog.model.paths import top_of_archive
from catalog.model.values import Trigger
from catalog.writing.store import Store, StoredSkill
from pipeline.roots import reader
from pipeline.roots.local.folder import Limits
from pipeline.roots.units import WatchUnit, outermost, with_archives
from pipeline.sync import removal_guard
from pipeline.sync.lost_mounts import LostMounts
from pipeline.sync.report import Report
from pipeline.sync.uptime import uptime


class RemovalDetector:
    """The skills that were looked for in vain."""

    def __init__(
        self,
        store: Store,
        report: Report,
        limits: Limits,
        *,
        trigger: Trigger,
        scan_id: int | None,
        still_settling: Collection[WatchUnit],
        accepts_removals: bool,
    ) -> None:
        """Take what a Round takes, and the report that it writes."""
        self._store = store
        self._report = report
        self._limits = limits
        self._trigger = trigger
        self._scan_id = scan_id
        self._still_settling = still_settling
        self._accepts_removals = accepts_removals
        self._rows: dict[WatchUnit, StoredSkill] = {}
        self._by_digest: dict[str, list[WatchUnit]] = defaultdict(list)
        self._places: dict[str, list[WatchUnit]] = {}
        self._lost: set[str] = set()  # roots that cannot be listed
        self.looked_at: Sequence[WatchUnit] = ()

    def add(self, place: WatchUnit, row: StoredSkill) -> None:
        """Note a skill that was not found where it had been."""
        self._rows[place] = row
        if row.digest:
            self._by_digest[row.digest].append(place)

    def find(self, place: WatchUnit) -> bool:
        """Take a skill off the list that was found after all; tell whether it was there."""
        return self._rows.pop(place, None) is not None

    def in_archives(self, root: str, tops: Collection[str]) -> dict[str, str]:
        """Return the fingerprints of those that were in archives, by path."""
        return {
            place.path: row.fingerprint
            for place, row in self._rows.items()
            if place.root == root and top_of_archive(place.path) in tops
        }

    def lose(self, root: str, rows: Mapping[str, StoredSkill]) -> None:
        """Note skills whose root cannot be listed."""
        self._lost.add(root)
        self._rows |= {WatchUnit(root, path): row for path, row in rows.items()}

    # Moved

    def claim(self, digest: str | None, path: str) -> WatchUnit | None:
        """Return the place from which a new folder with this content has come, if it has moved."""
        same = self._by_digest.get(digest or "", [])
        same.sort(key=lambda place: _name(place.path) != _name(path))  # a moved parent first
        while same:
            before = same.pop(0)
            if self.find(before) and not self._is_there(before):
                return before
        return next((place for place in self._elsewhere(digest) if not self._is_there(place)), None)

    def _elsewhere(self, digest: str | None) -> list[WatchUnit]:
        """Return where the catalog has this content, outside of what is looked at.

        A folder may be seen at its new place before anybody looks at the old one, of which
        something was heard, too, or long after its removal from there was held back.
        """
        if not digest or all(not unit.path for unit in self.looked_at):
            return []
        if digest not in self._places:  # asked once, for a thousand folders may be alike
            self._places[digest] = [
                WatchUnit(root, path)
                for root, path, is_held in self._store.places_of(digest)
                if is_held or self._is_still_settling(WatchUnit(root, path))
            ]
        return [
            place
            for place in self._places[digest]
            if not any(place.lies_in(unit) for unit in self.looked_at)
        ]

    def _is_still_settling(self, place: WatchUnit) -> bool:
        return place in self._still_settling or any(
            unit in self._still_settling for unit in place.wholes()
        )

    def _is_there(self, place: WatchUnit) -> bool:
        """Tell whether a folder is a skill's at this moment; of a root that went, all are."""
        try:
            return reader.look(Path(place.root), place.path, self._limits) is not None
        except RootUnreadable as error:
            self._report.troubles[place.root] = str(error)
            return True

    # Removed, or held back

    def to_remove(self) -> list[WatchUnit]:
        """Return what is to be removed, and hold back the rest."""
        gone: dict[str, list[WatchUnit]] = defaultdict(list)
        for place in self._rows:
            if place.root in self._lost or not self._is_there(place):
                gone[place.root].append(place)
        return [place for root, places in gone.items() for place in self._sift(root, places)]

    def _sift(self, root: str, gone: Sequence[WatchUnit]) -> Sequence[WatchUnit]:
        if self._accepts_removals:
            return gone
        fresh = [place for place in gone if not self._rows[place].is_held]
        if not fresh:
            return []
        removed: list[WatchUnit] = []
        lost: dict[str, list[WatchUnit]] = defaultdict(list)
        mounts = LostMounts(self._store, root, is_lost=root in self._lost)
        for place in fresh:
            if why := mounts.why_gone(place.path):
                lost[why].append(place)
            else:
                removed.append(place)
        for why, places in lost.items():
            self.hold(root, [place.path for place in places], why)
        return self._brake(root, removed) if removed else []

    def _brake(self, root: str, gone: Sequence[WatchUnit]) -> Sequence[WatchUnit]:
        """Return what is to be removed of what is gone; nothing where it is too much at once."""
        now, since_boot = datetime.now(UTC), uptime()
        tally = self._store.removals.tally(root, now, since_boot, removal_guard.SPAN)
        unsettled_count = (
            self._count_still_settling(root) if tally.known >= removal_guard.FEWEST else 0
        )
        paths = [place.path for place in gone]
        if why := removal_guard.why_hold(
            missing=tally.held + len(gone) + unsettled_count,
            known=tally.known,
            removed_lately=tally.removed_lately,
        ):
            self.hold(root, paths, why)
        elif unsettled_count:
            self._report.postponed += gone
        else:
            self._store.removals.note_going(root, paths, now, since_boot, removal_guard.SPAN)
            return gone
        return []

    def hold(self, root: str, paths: Sequence[str], why: str) -> None:
        """Hold back the removal of skills of a root."""
        held = self._store.removals.hold(
            root, paths, why=why, at=datetime.now(UTC), trigger=self._trigger, scan=self._scan_id
        )
        self._report.outcomes["held"] += len(held)
        if held:
            self._report.held[root] = why

    def _count_still_settling(self, root: str) -> int:
        """Count the skills that are gone, too, and of which more may follow in a moment."""
        return sum(
            not self._is_there(place)
            for unit in outermost(
                with_archives(unit for unit in self._still_settling if unit.root == root)
            )
            for path in self._store.known(*unit)
            if (place := WatchUnit(root, path)) not in self._rows
        )


def _name(path: str) -> str:
    return path.rpartition("/")[2]
