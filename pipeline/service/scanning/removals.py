"""Removals: which missing folders have moved, which were removed, and which removals are held."""

import os
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from catalog.model.errors import RootUnreadable
from catalog.model.paths import os_path, text_path, top_of_archive
from catalog.model.values import Trigger
from catalog.writing.store import Store
from catalog.writing.tables.removals import HoldReason, Uptime
from catalog.writing.tables.skills import KnownSkills
from pipeline.roots.local.folder import Limits
from pipeline.roots.local.mounts import device, mounted_below
from pipeline.roots.source import open_source
from pipeline.roots.units import WatchUnit, outermost, with_archives

FEWEST = 20
"""Fewer missing skills than this are always removed."""
SPAN = 600.0
"""Seconds; all removals from a root within this span count together."""


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


_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def uptime() -> Uptime:
    """Return the id of the current boot and the seconds since it, including sleep."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return Uptime(_boot_id(), time.clock_gettime(clock))


@cache
def _boot_id() -> str:
    """Return the id of the current boot; empty if the system has none."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return ""


def note_new(store: Store, root: str) -> None:
    """Note new mounts below a root before the scan finds skills on them.

    `note_all` notes a mount that covers known skills, once none of these is missing.
    """
    known = store.removals.mounts(root)
    for path, subtree in _mounts_below(root).items():
        if path in known or store.skills.known(root, path).fingerprints:
            continue
        if name := _mount_name(root, path, subtree):
            store.removals.add_mount(root, path, name)


def note_all(store: Store, root: str) -> None:
    """Note the mounts at and below a root; places of held removals keep their earlier note."""
    names = {
        path: _mount_name(root, path, subtree) for path, subtree in _mounts_below(root).items()
    }
    store.removals.note_mounts(
        root, {path: name for path, name in [("", device(root)), *names.items()] if name}
    )


class LostMounts:
    """A root and the mounts below it, compared with those noted earlier."""

    def __init__(self, store: Store, root: str, *, is_lost: bool) -> None:
        """Compare a root with its noted mounts; is_lost means that it cannot be listed."""
        self._root = root
        self._top = os.path.realpath(root)
        noted = store.removals.mounts(root)
        current = {} if is_lost else _mounts_below(root)
        self._reasons: dict[str, HoldReason | None] = {
            path: self._compare(path, noted.get(path), current.get(path))
            for path in noted.keys() | current.keys()
        }
        if is_lost:
            self._reasons = {
                "": HoldReason(
                    "lost_root",
                    "its root cannot be read" if os.path.lexists(root) else "its root is missing",
                )
            }

    def reason_to_hold(self, path: str) -> HoldReason | None:
        """Return why a missing skill may still exist; None if nothing suggests that it does."""
        if not any(self._reasons.values()):
            return None
        mount_point = self._real_path(path)
        while mount_point and mount_point not in self._reasons:
            mount_point = mount_point.rpartition("/")[0]
        return self._reasons.get(mount_point)

    def _compare(self, path: str, noted: str | None, subtree: str | None) -> HoldReason | None:
        if not path:
            is_same = noted in (None, device(self._root))
            return None if is_same else _OTHER_ROOT
        mount_point = f"{self._root}/{path}"
        if subtree is None:
            return HoldReason("lost_mount", f"nothing is mounted any more at {mount_point}")
        if noted == _mount_name(self._root, path, subtree):
            return None
        return HoldReason("lost_mount", f"another file system is mounted at {mount_point}")

    def _real_path(self, path: str) -> str:
        """Return a path relative to the root, with its symbolic links resolved."""
        real = os.path.realpath(f"{self._root}/{os_path(path)}")
        return text_path(real.removeprefix(f"{self._top}/"))


_OTHER_ROOT = HoldReason("lost_root", "its root lies on another file system than before")


def _mounts_below(root: str) -> dict[str, str]:
    """Return the mounts below a root: relative path to the mounted subtree of a file system."""
    return {text_path(path): subtree for path, subtree in mounted_below(root).items()}


def _mount_name(root: str, path: str, subtree: str) -> str | None:
    """Return a name for the mount at a path of a root; None if it is no longer mounted."""
    device_name = device(f"{root}/{os_path(path)}")
    return device_name and f"{device_name} {subtree}"


@dataclass(frozen=True, slots=True)
class Decision:
    """Decision about the missing skills."""

    removed: tuple[WatchUnit, ...]
    held: int  # removals newly held
    postponed: tuple[WatchUnit, ...]  # until other folders of the root settle


class RemovalDetector:
    """The skills missing from their known places during a scan."""

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
        """Take the arguments of the Synchronizer of the same names."""
        self._store = store
        self._limits = limits
        self._trigger = trigger
        self._scan_id = scan_id
        self._still_settling = still_settling
        self._accepts_removals = accepts_removals
        self._fingerprints: dict[WatchUnit, str] = {}
        self._held: set[WatchUnit] = set()
        self._unread: dict[str, list[str]] = defaultdict(list)  # not in _by_digest yet, by root
        self._by_digest: dict[str, list[WatchUnit]] = defaultdict(list)
        self._places: dict[str, list[WatchUnit]] = {}
        self._lost_roots: set[str] = set()  # roots that cannot be listed
        self.scanned: Sequence[WatchUnit] = ()
        self.troubles: dict[str, str] = {}
        """Errors of roots that could not be read, by root."""

    def add(self, root: str, paths: Sequence[str], known: KnownSkills) -> None:
        """Add skills that are missing from their places."""
        self._unread[root] += paths
        self._note(root, paths, known)

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

    def add_root(self, root: str, known: KnownSkills) -> None:
        """Add all skills of a root that cannot be listed."""
        self._lost_roots.add(root)
        self._note(root, known.fingerprints, known)

    def _note(self, root: str, paths: Iterable[str], known: KnownSkills) -> None:
        for path in paths:
            self._fingerprints[WatchUnit(root, path)] = known.fingerprints[path]
            if path in known.held:
                self._held.add(WatchUnit(root, path))

    # Moved

    def claim(self, digest: str | None, path: str) -> WatchUnit | None:
        """Return the previous place of a new folder with this content, if it has moved."""
        self._read_digests()
        same = self._by_digest.get(digest or "", [])
        same.sort(key=lambda place: _name(place.path) != _name(path))  # a moved parent first
        while same:
            before = same.pop(0)
            if self.discard(before) and not self._exists(before):
                return before
        return next((place for place in self._elsewhere(digest) if not self._exists(place)), None)

    def _read_digests(self) -> None:
        for root, paths in self._unread.items():
            digests = self._store.skills.seen_digests(root, paths)
            for path in filter(digests.get, paths):
                self._by_digest[digests[path]].append(WatchUnit(root, path))
        self._unread.clear()

    def _elsewhere(self, digest: str | None) -> list[WatchUnit]:
        """Return the places outside the scanned units where the catalog has this content.

        A scan may reach the new place of a folder before the old one, which still settles, or long
        after the removal from the old one was held.
        """
        if not digest or all(not unit.path for unit in self.scanned):
            return []
        if digest not in self._places:  # one query, even for a thousand equal folders
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

    def _exists(self, place: WatchUnit) -> bool:
        """Return whether a folder is a skill folder now; True if its root cannot be read."""
        try:
            with open_source(place.root, self._limits) as source:
                return source.folder(place.path) is not None
        except RootUnreadable as error:
            self.troubles[place.root] = str(error)
            return True

    # Removed or held

    def decide(self) -> Decision:
        """Decide which missing skills are removed; hold the removal of others."""
        missing: dict[str, list[WatchUnit]] = defaultdict(list)
        for place in self._fingerprints:
            if place.root in self._lost_roots or not self._exists(place):
                missing[place.root].append(place)
        decisions = [self._decide(root, places) for root, places in missing.items()]
        return Decision(
            tuple(place for decision in decisions for place in decision.removed),
            sum(decision.held for decision in decisions),
            tuple(place for decision in decisions for place in decision.postponed),
        )

    def _decide(self, root: str, missing: Sequence[WatchUnit]) -> Decision:
        """Decide about the missing skills of one root."""
        if self._accepts_removals:
            return Decision(tuple(missing), 0, ())
        newly_missing = [place for place in missing if place not in self._held]
        if not newly_missing:
            return Decision((), 0, ())
        to_hold: dict[HoldReason, list[str]] = defaultdict(list)
        removed: list[WatchUnit] = []
        mounts = LostMounts(self._store, root, is_lost=root in self._lost_roots)
        for place in newly_missing:
            if reason := mounts.reason_to_hold(place.path):
                to_hold[reason].append(place.path)
            else:
                removed.append(place)
        held = sum(self.hold(root, paths, reason) for reason, paths in to_hold.items())
        if not removed:
            return Decision((), held, ())
        guarded = self._guard(root, removed)
        return replace(guarded, held=held + guarded.held)

    def _guard(self, root: str, missing: Sequence[WatchUnit]) -> Decision:
        """Remove skills that were probably removed on purpose; hold them if they are too many."""
        now, since_boot = datetime.now(UTC), uptime()
        tally = self._store.removals.tally(root, now, since_boot, SPAN)
        could_be_many = tally.known + tally.removed_lately >= FEWEST
        unsettled_count = self._count_still_settling(root) if could_be_many else 0
        paths = [place.path for place in missing]
        if reason := reason_to_hold(
            missing=tally.held + len(missing) + unsettled_count,
            known=tally.known,
            removed_lately=tally.removed_lately,
        ):
            return Decision((), self.hold(root, paths, reason), ())
        if unsettled_count:
            return Decision((), 0, tuple(missing))
        self._store.removals.note_going(root, paths, now, since_boot, SPAN)
        return Decision(tuple(missing), 0, ())

    def hold(self, root: str, paths: Sequence[str], reason: HoldReason) -> int:
        """Hold the removal of skills of a root; return the number of those not held before."""
        return self._store.removals.hold(
            root, paths, reason, at=datetime.now(UTC), trigger=self._trigger, scan=self._scan_id
        )

    def _count_still_settling(self, root: str) -> int:
        """Count the other missing skills, in units that still settle and may lose more."""
        return sum(
            not self._exists(place)
            for unit in outermost(
                with_archives(unit for unit in self._still_settling if unit.root == root)
            )
            for path in self._store.skills.known(*unit).fingerprints
            if (place := WatchUnit(root, path)) not in self._fingerprints
        )


def _name(path: str) -> str:
    return path.rpartition("/")[2]
