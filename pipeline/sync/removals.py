"""Detector of removals: folders that moved, are gone, or whose removal is held."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from catalog.model.errors import RootUnreadable
from catalog.model.paths import top_of_archive
from catalog.model.values import Trigger
from catalog.writing.store import Store
from catalog.writing.tables.removals import HoldReason
from catalog.writing.tables.skills import StoredSkill
from pipeline.roots.local.folder import Limits
from pipeline.roots.source import open_source
from pipeline.roots.units import WatchUnit, outermost, with_archives
from pipeline.sync import removal_guard
from pipeline.sync.lost_mounts import LostMounts
from pipeline.sync.uptime import uptime


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about the skills that were not found."""

    removed: tuple[WatchUnit, ...]
    held: int  # removals that are held from now on
    postponed: tuple[WatchUnit, ...]  # to be decided when other folders of the root are settled


class RemovalDetector:
    """The skills that a scan did not find where they were."""

    def __init__(
        self,
        store: Store,
        limits: Limits,
        *,
        trigger: Trigger,
        scan_id: int | None,
        still_settling: Collection[WatchUnit],
        accepts_removals: bool,
    ) -> None:
        """Take the arguments of the Synchronizer."""
        self._store = store
        self._limits = limits
        self._trigger = trigger
        self._scan_id = scan_id
        self._still_settling = still_settling
        self._accepts_removals = accepts_removals
        self._rows: dict[WatchUnit, StoredSkill] = {}
        self._by_digest: dict[str, list[WatchUnit]] = defaultdict(list)
        self._places: dict[str, list[WatchUnit]] = {}
        self._lost: set[str] = set()  # roots that cannot be listed
        self.scanned: Sequence[WatchUnit] = ()
        self.troubles: dict[str, str] = {}
        """Why a root could not be read, by root."""

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
        if not digest or all(not unit.path for unit in self.scanned):
            return []
        if digest not in self._places:  # asked once, for a thousand folders may be alike
            self._places[digest] = [
                WatchUnit(root, path)
                for root, path, is_held in self._store.skills.places_of(digest)
                if is_held or self._is_still_settling(WatchUnit(root, path))
            ]
        return [
            place
            for place in self._places[digest]
            if not any(place.lies_in(unit) for unit in self.scanned)
        ]

    def _is_still_settling(self, place: WatchUnit) -> bool:
        return place in self._still_settling or any(
            unit in self._still_settling for unit in place.wholes()
        )

    def _is_there(self, place: WatchUnit) -> bool:
        """Tell whether a folder is a skill's at this moment; of a root that went, all are."""
        try:
            with open_source(place.root, self._limits) as source:
                return source.folder(place.path) is not None
        except RootUnreadable as error:
            self.troubles[place.root] = str(error)
            return True

    # Removed, or held back

    def decide(self) -> Decision:
        """Decide which skills are removed, and hold the removal of others."""
        gone: dict[str, list[WatchUnit]] = defaultdict(list)
        for place in self._rows:
            if place.root in self._lost or not self._is_there(place):
                gone[place.root].append(place)
        decisions = [self._decide(root, places) for root, places in gone.items()]
        return Decision(
            tuple(place for decision in decisions for place in decision.removed),
            sum(decision.held for decision in decisions),
            tuple(place for decision in decisions for place in decision.postponed),
        )

    def _decide(self, root: str, gone: Sequence[WatchUnit]) -> Decision:
        """Decide about the skills of one root that are gone."""
        if self._accepts_removals:
            return Decision(tuple(gone), 0, ())
        fresh = [place for place in gone if not self._rows[place].is_held]
        if not fresh:
            return Decision((), 0, ())
        lost: dict[HoldReason, list[str]] = defaultdict(list)
        removed: list[WatchUnit] = []
        mounts = LostMounts(self._store, root, is_lost=root in self._lost)
        for place in fresh:
            if reason := mounts.why_gone(place.path):
                lost[reason].append(place.path)
            else:
                removed.append(place)
        held = sum(self.hold(root, paths, reason) for reason, paths in lost.items())
        if not removed:
            return Decision((), held, ())
        guarded = self._guard(root, removed)
        return replace(guarded, held=held + guarded.held)

    def _guard(self, root: str, gone: Sequence[WatchUnit]) -> Decision:
        """Decide about skills that seem to be removed on purpose, unless they are too many."""
        now, since_boot = datetime.now(UTC), uptime()
        tally = self._store.removals.tally(root, now, since_boot, removal_guard.SPAN)
        could_be_many = tally.known + tally.removed_lately >= removal_guard.FEWEST
        unsettled_count = self._count_still_settling(root) if could_be_many else 0
        paths = [place.path for place in gone]
        if reason := removal_guard.reason_to_hold(
            missing=tally.held + len(gone) + unsettled_count,
            known=tally.known,
            removed_lately=tally.removed_lately,
        ):
            return Decision((), self.hold(root, paths, reason), ())
        if unsettled_count:
            return Decision((), 0, tuple(gone))
        self._store.removals.note_going(root, paths, now, since_boot, removal_guard.SPAN)
        return Decision(tuple(gone), 0, ())

    def hold(self, root: str, paths: Sequence[str], reason: HoldReason) -> int:
        """Hold the removal of skills of a root; return how many were not held before."""
        return self._store.removals.hold(
            root, paths, reason, at=datetime.now(UTC), trigger=self._trigger, scan=self._scan_id
        )

    def _count_still_settling(self, root: str) -> int:
        """Count the skills that are gone, too, and of which more may follow in a moment."""
        return sum(
            not self._is_there(place)
            for unit in outermost(
                with_archives(unit for unit in self._still_settling if unit.root == root)
            )
            for path in self._store.skills.known(*unit)
            if (place := WatchUnit(root, path)) not in self._rows
        )


def _name(path: str) -> str:
    return path.rpartition("/")[2]
