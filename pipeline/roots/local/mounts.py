"""File systems of directories, and the types that are on a network."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


def device(path: str) -> str | None:
    """Return a name for the file system that a directory lies on; None where there is none.

    Of most it stays the same when the machine is started again.
    """
    try:
        found = os.statvfs(path).f_fsid or os.stat(path).st_dev
    except OSError:
        return None
    return f"{found:x}"


def mounted_below(directory: str, mounts: str | None = None) -> dict[str, str]:
    """Return which part of its file system is mounted where below a directory, by relative path.

    mounts is the text of /proc/self/mountinfo; where there is no such file, nothing is known.
    """
    top = os.path.realpath(directory).rstrip("/")
    return {
        mount.point.removeprefix(f"{top}/"): mount.part
        for mount in _mounts(_read() if mounts is None else mounts)
        if mount.point.startswith(f"{top}/")
    }


_NETWORK = frozenset(
    {
        "9p",
        "afs",
        "beegfs",
        "ceph",
        "cifs",
        "davfs",
        "drvfs",
        "gfs2",
        "gpfs",
        "lustre",
        "ncpfs",
        "nfs",
        "nfs4",
        "ocfs2",
        "prl_fs",
        "smb3",
        "smbfs",
        "vboxsf",
        "virtiofs",
    }
)
_MOUNTS = Path("/proc/self/mountinfo")


def network_type(path: str, mounts: str | None = None) -> str | None:
    """Return the type of the network file system that a directory lies on, None if it is local.

    mounts is the text of /proc/self/mountinfo (see proc_pid_mountinfo(5)).
    """
    kind = _type(os.path.realpath(path), _read() if mounts is None else mounts)
    # What a program in user space mounts is mostly remote (sshfs, rclone), and its changes
    # there are no events here.
    return kind if kind in _NETWORK or kind.startswith("fuse.") else None


def _read() -> str:
    try:
        return _MOUNTS.read_text(errors="surrogateescape")
    except OSError:
        return ""


def _type(path: str, mounts: str) -> str:
    """Return the type of what is mounted deepest above a path, the last one mounted there."""
    found, deepest = "", -1
    for mount in _mounts(mounts):
        if len(mount.point) >= deepest and f"{path}/".startswith(f"{mount.point}/"):
            found, deepest = mount.kind, len(mount.point)
    return found


class _Mount(NamedTuple):
    """One line of /proc/self/mountinfo."""

    point: str  # absolute, without a slash at its end
    part: str  # the directory of the file system that is mounted there
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
