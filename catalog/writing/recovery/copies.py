"""Copies of damaged catalogs: their names, and the removal of all but the newest."""

import logging
import os
import re
import shutil
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

log = logging.getLogger("skilldrop")

RECOVERING = ".recovering-"
"""Prefix of the directories beside a catalog in which a recovery works."""
KEPT = 3
"""Number of damaged catalogs to keep; each is as large as the catalog was."""
_ASIDE = r"\.damaged-(\d{8}-\d{6})(?:-(\d+))?"
"""Suffix that `aside_of` adds to the name of a catalog: the time, and a number for ties."""


def aside_of(path: Path, at: datetime, kind: str = "damaged") -> Path:
    """Return an unused path for a catalog that is put aside, with the time in its name."""
    base = f"{path.name}.{kind}-{at.astimezone(UTC):%Y%m%d-%H%M%S}"
    name, count = base, 1
    while os.path.lexists(path.with_name(name)):
        count += 1
        name = f"{base}-{count}"
    return path.with_name(name)


def sweep(path: Path) -> None:
    """Remove directories of recoveries that were killed, which hold nothing but a catalog."""
    names = {f"{path.name}{ending}" for ending in ("", "-journal", "-wal", "-shm")}
    for folder in path.parent.glob(f"{RECOVERING}*"):
        with suppress(OSError):
            if not folder.is_symlink() and names.issuperset(os.listdir(folder)):
                shutil.rmtree(folder)


def exchange(path: Path, aside: Path, new: Path) -> None:
    """Rename a damaged catalog with its log, and move a new one into its place.

    On file systems with hard links, a catalog exists at every moment. Raises OSError.
    """
    for ending in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            path.with_name(f"{path.name}{ending}").rename(aside.with_name(f"{aside.name}{ending}"))
    with suppress(FileNotFoundError):
        try:
            os.link(path, aside, follow_symlinks=False)
        except PermissionError:  # no hard links on this file system
            path.rename(aside)
    new.replace(path)


def keep_newest(path: Path, aside: Path) -> None:
    """Remove all but the newest damaged catalogs beside a catalog, and log the removed ones.

    `aside`, the one just renamed, stays even if the clock was set back.
    """
    copies: list[tuple[str, int, str]] = []
    with os.scandir(path.parent) as entries:
        for entry in entries:
            match = re.fullmatch(re.escape(path.name) + _ASIDE, entry.name)
            if match and entry.name != aside.name and entry.is_file(follow_symlinks=False):
                copies.append((match[1], int(match[2] or 1), entry.name))
    for *_, name in sorted(copies)[: -(KEPT - 1)]:
        try:
            path.with_name(name).unlink()
        except OSError as error:
            log.warning("%s cannot be removed: %s", path.with_name(name), error.strerror)
            continue
        for ending in ("-wal", "-shm"):
            with suppress(OSError):
                path.with_name(f"{name}{ending}").unlink()
        log.warning(
            "removed %s: only the newest %d damaged catalogs are kept", path.with_name(name), KEPT
        )
