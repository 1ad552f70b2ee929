"""Lost mounts: roots, and mounts below them, that no longer hold their skills."""

import os

from catalog.model import paths
from catalog.writing.store import Store
from catalog.writing.tables.removals import HoldReason
from pipeline.roots.local.mounts import device, mounted_below


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
        real = os.path.realpath(f"{self._root}/{paths.os_path(path)}")
        return paths.text_path(real.removeprefix(f"{self._top}/"))


_OTHER_ROOT = HoldReason("lost_root", "its root lies on another file system than before")


def _mounts_below(root: str) -> dict[str, str]:
    """Return the mounts below a root: relative path to the mounted subtree of a file system."""
    return {paths.text_path(path): subtree for path, subtree in mounted_below(root).items()}


def _mount_name(root: str, path: str, subtree: str) -> str | None:
    """Return a name for the mount at a path of a root; None if it is no longer mounted."""
    device_name = device(f"{root}/{paths.os_path(path)}")
    return device_name and f"{device_name} {subtree}"
