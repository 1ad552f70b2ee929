"""Roots and mounts below them that no longer hold their skills."""

import os

from catalog.model import paths
from catalog.writing.store import Store
from catalog.writing.tables.removals import HoldReason
from pipeline.roots.local.mounts import device, mounted_below


def note_new(store: Store, root: str) -> None:
    """Note what is mounted below a root since the last look, before skills are found on it.

    What covers skills that are known is noted by `note_all`, once nothing of them is missing.
    """
    known = store.removals.mounts(root)
    for path, part in _below(root).items():
        if path in known or store.skills.known(root, path):
            continue
        if name := _name(root, path, part):
            store.removals.add_mount(root, path, name)


def note_all(store: Store, root: str) -> None:
    """Note what is mounted at a root and below it; where removals are held, it stays as noted."""
    names = {path: _name(root, path, part) for path, part in _below(root).items()}
    store.removals.note_mounts(
        root, {path: name for path, name in [("", device(root)), *names.items()] if name}
    )


class LostMounts:
    """The mounts of a root, itself among them, and why one may not hold what it held."""

    def __init__(self, store: Store, root: str, *, is_lost: bool) -> None:
        """Compare a root with what was noted of it; is_lost says that it cannot be listed."""
        self._root = root
        self._top = os.path.realpath(root)
        noted = store.removals.mounts(root)
        now = {} if is_lost else _below(root)
        self._why: dict[str, HoldReason | None] = {
            path: self._compared(path, noted.get(path), now.get(path))
            for path in noted.keys() | now.keys()
        }
        if is_lost:
            self._why = {
                "": HoldReason(
                    "lost_root",
                    "its root cannot be read" if os.path.lexists(root) else "its root is missing",
                )
            }

    def why_gone(self, path: str) -> HoldReason | None:
        """Say why a skill may be gone without having been removed; None where nothing tells so."""
        if not any(self._why.values()):
            return None
        place = self._real(path)
        while place and place not in self._why:
            place = place.rpartition("/")[0]
        return self._why.get(place)

    def _compared(self, path: str, noted: str | None, part: str | None) -> HoldReason | None:
        if not path:
            is_same = noted in (None, device(self._root))
            return None if is_same else _OTHER_ROOT
        where = f"{self._root}/{path}"
        if part is None:
            return HoldReason("lost_mount", f"nothing is mounted any more at {where}")
        if noted == _name(self._root, path, part):
            return None
        return HoldReason("lost_mount", f"another file system is mounted at {where}")

    def _real(self, path: str) -> str:
        """Return a path without the links that it goes through, relative to the root."""
        real = os.path.realpath(f"{self._root}/{paths.os_path(path)}")
        return paths.text_path(real.removeprefix(f"{self._top}/"))


_OTHER_ROOT = HoldReason("lost_root", "its root lies on another file system than before")


def _below(root: str) -> dict[str, str]:
    return {paths.text_path(path): part for path, part in mounted_below(root).items()}


def _name(root: str, path: str, part: str) -> str | None:
    """Return a name for what is mounted at a path of a root; None where nothing is any more."""
    found = device(f"{root}/{paths.os_path(path)}")
    return found and f"{found} {part}"
