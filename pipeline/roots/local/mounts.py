"""File systems of directories: their names, mounts and network types."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from catalog.model.paths import text_path


def device(path: str) -> str | None:
    """Return a name for the file system of a directory; None if the directory does not exist.

    For most file systems, the name survives a restart of the machine.
    """
    try:
        number = os.statvfs(path).f_fsid or os.stat(path).st_dev
    except (OSError, AttributeError):  # Windows has no statvfs, and keeps no catalog
        return None
    return f"{number:x}"


def file_systems(root: str) -> dict[str, str]:
    """Return names for the file systems of a root, by "", and for those mounted below, by path."""
    top = os.path.realpath(root).rstrip("/")
    parts = {
        mount.point.removeprefix(f"{top}/"): f" {mount.part}"
        for mount in _mounts(_read())
        if mount.point.startswith(f"{top}/")
    }
    return {
        text_path(path): f"{name}{part}"
        for path, part in {"": "", **parts}.items()
        if (name := device(f"{top}/{path}"))
    }


_NETWORK = frozenset(
    """
    9p afs beegfs ceph cifs davfs drvfs gfs2 gpfs lustre ncpfs nfs nfs4 ocfs2 prl_fs smb3
    smbfs vboxsf virtiofs
    """.split()
)
_MOUNTS = Path("/proc/self/mountinfo")


def network_type(path: str, mounts: str | None = None) -> str | None:
    """Return the type of a directory's network file system; None if it is local.

    mounts is the text of /proc/self/mountinfo (see proc_pid_mountinfo(5)).
    """
    kind = _type(os.path.realpath(path), _read() if mounts is None else mounts)
    # FUSE mounts are mostly remote (sshfs, rclone), and remote changes cause no events here.
    return kind if kind in _NETWORK or kind.startswith("fuse.") else None


def _read() -> str:
    try:
        return _MOUNTS.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def _type(path: str, mounts: str) -> str:
    """Return the type of the deepest mount above a path, the last one at that point."""
    kind, deepest = "", -1
    for mount in _mounts(mounts):
        if len(mount.point) >= deepest and f"{path}/".startswith(f"{mount.point}/"):
            kind, deepest = mount.kind, len(mount.point)
    return kind


class _Mount(NamedTuple):
    """Line of /proc/self/mountinfo."""

    point: str  # absolute, without a slash at its end
    part: str  # the mounted directory of the file system
    kind: str


def _mounts(text: str) -> Iterator[_Mount]:
    for line in text.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) >= 5 and right:
            yield _Mount(
                _unescaped(fields[4]).rstrip("/"), _unescaped(fields[3]), right.split(" ")[0]
            )


def _unescaped(field: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, char)
    return field
