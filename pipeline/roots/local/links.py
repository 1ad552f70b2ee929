"""Targets of links below a root, and the rules for following them."""

import errno
from collections.abc import Iterable
from stat import S_ISDIR, S_ISLNK, S_ISREG

from catalog.model.finding import FindingType
from pipeline.roots.codes import LINK_DANGLING, LINK_LEAVES_ROOT, LINK_LOOP, SPECIAL_FILE
from pipeline.roots.local.folder import Target, Targets
from pipeline.roots.local.root_directory import EXHAUSTED, IO_ERRORS, RootDirectory


def targets(root: RootDirectory, directory: str, names: Iterable[str]) -> Targets:
    """Return the targets of names in a directory, except those that have just vanished."""
    followed = {name: follow(root, directory, name) for name in names}
    return {name: target for name, target in followed.items() if target is not None}


def follow(root: RootDirectory, directory: str, name: str) -> Target | FindingType | None:
    """Return the regular file or directory that a link below the root leads to.

    If it leads to none, return the type of the finding about it; None if it has just vanished.
    Raises OSError if the system does not reveal the target.
    """
    try:
        if not S_ISLNK(root.stat(f"{directory}/{name}").st_mode):
            return SPECIAL_FILE
    except OSError as error:
        _raise_system_error(error)
        return None
    try:
        real = root.real_path(name, directory)
        if real is None:
            return LINK_LEAVES_ROOT
        stat = root.stat(real)
    except OSError as error:
        _raise_system_error(error)
        return LINK_LOOP if error.errno == errno.ELOOP else LINK_DANGLING
    is_followed = S_ISDIR(stat.st_mode) or S_ISREG(stat.st_mode)
    return Target(stat, real) if is_followed else SPECIAL_FILE


def _raise_system_error(error: OSError) -> None:
    """Raise an error that does not depend on the link."""
    if error.errno in EXHAUSTED | IO_ERRORS:
        raise error
