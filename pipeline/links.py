"""Where a name that is neither file nor directory leads, and whether we may follow it there."""

import errno
import os
from collections.abc import Iterable
from stat import S_ISDIR, S_ISLNK, S_ISREG

from pipeline.signature import Targets


def targets(root: str, directory: str, names: Iterable[str]) -> Targets:
    """Return where each of these names in a directory leads, without those just vanished."""
    followed = {name: follow(root, directory, name) for name in names}
    return {name: target for name, target in followed.items() if target is not None}


def follow(root: str, directory: str, name: str) -> os.stat_result | str | None:
    """Return the stat of the regular file or directory that a link below the root leads to.

    Else the code of the finding that says why it is left out, or None if it has just vanished.
    """
    path = f"{directory}/{name}"
    try:
        if not S_ISLNK(os.lstat(path).st_mode):
            return "special-file"
    except OSError:
        return None
    try:
        behind = path_behind_links(root, path)
        if behind is None:
            return "link-leaves-root"
        target = os.stat(f"{root}/{behind}")
        if S_ISDIR(target.st_mode):
            return "link-loop" if _is_on_the_way(root, directory, target) else target
    except OSError as error:
        return "link-loop" if error.errno == errno.ELOOP else "link-dangling"
    return target if S_ISREG(target.st_mode) else "special-file"


def path_behind_links(root: str, path: str) -> str | None:
    """Return a path below the root, relative to it, without the links on its way.

    None if it leads out of the root; OSError if it leads to nothing.
    """
    real_root = os.path.realpath(root, strict=True).rstrip("/") + "/"
    real = os.path.realpath(path, strict=True) + "/"
    return real.removeprefix(real_root).rstrip("/") if real.startswith(real_root) else None


def _is_on_the_way(root: str, directory: str, target: os.stat_result) -> bool:
    """Say whether the target is the root, the directory, or one that was passed in between."""
    at = directory
    while True:
        if os.path.samestat(os.stat(at), target):
            return True
        if len(at) <= len(root):
            return False
        at = os.path.dirname(at)
