"""Retention of damaged catalogs that were put aside: the newest few stay."""

import logging
import os
import re
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

log = logging.getLogger("skilldrop")

KEPT = 3
"""Damaged catalogs that stay: each is as large as the catalog was."""
_ASIDE = r"\.damaged-(\d{8}-\d{6})(?:-(\d+))?"
"""What `recovery.aside_of` adds to the name of a catalog: when, and which of that second."""


def aside_of(path: Path, at: datetime) -> Path:
    """Return a name that is free, and says when, for a damaged catalog."""
    base = f"{path.name}.damaged-{at.astimezone(UTC):%Y%m%d-%H%M%S}"
    name, count = base, 1
    while os.path.lexists(path.with_name(name)):
        count += 1
        name = f"{base}-{count}"
    return path.with_name(name)


def exchange(path: Path, aside: Path, new: Path) -> None:
    """Keep a damaged catalog with its log under another name, and put a new one in its place.

    One of them is there at every moment, where the file system has hard links. Raises OSError.
    """
    for ending in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(f"{path.name}{ending}").rename(aside.with_name(f"{aside.name}{ending}"))
    with suppress(FileNotFoundError):
        try:
            os.link(path, aside, follow_symlinks=False)
        except PermissionError:  # there are no hard links here
            path.rename(aside)
    new.replace(path)


def keep_newest(path: Path, aside: Path) -> None:
    """Remove all but the newest damaged catalogs beside one, and say so in the log.

    aside is the one that was kept just now; it stays, even if the clock was set back.
    """
    found: list[tuple[str, int, str]] = []
    with os.scandir(path.parent) as entries:
        for each in entries:
            match = re.fullmatch(re.escape(path.name) + _ASIDE, each.name)
            if match and each.name != aside.name and each.is_file(follow_symlinks=False):
                found.append((match[1], int(match[2] or 1), each.name))
    for *_, name in sorted(found)[: -(KEPT - 1)]:
        try:
            path.with_name(name).unlink()
        except OSError as error:
            log.warning("%s cannot be removed: %s", path.with_name(name), error.strerror)
            continue
        for ending in ("-wal", "-shm"):
            with suppress(OSError):
                path.with_name(f"{name}{ending}").unlink()
        log.warning(
            "removed %s: of damaged catalogs the newest %d are kept", path.with_name(name), KEPT
        )
