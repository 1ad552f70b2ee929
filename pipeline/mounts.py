"""Knows on which file system a directory lies, and which of them are on a network."""

import os
from pathlib import Path


def device(path: str) -> str | None:
    """Return a name for the file system that a directory lies on; None where there is none.

    Of most it stays the same when the machine is started again.
    """
    try:
        found = os.statvfs(path).f_fsid or os.stat(path).st_dev
    except OSError:
        return None
    return f"{found:x}"


_NETWORK = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "davfs", "drvfs", "gfs2", "gpfs", "lustre", "ncpfs",
    "nfs", "nfs4", "ocfs2", "prl_fs", "smb3", "smbfs", "vboxsf", "virtiofs",
})
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
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        fields = left.split(" ")
        if len(fields) < 5 or not right:
            continue
        point = _unescaped(fields[4]).rstrip("/")
        if len(point) >= deepest and f"{path}/".startswith(f"{point}/"):
            found, deepest = right.split(" ")[0], len(point)
    return found


def _unescaped(field: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, char)
    return field
