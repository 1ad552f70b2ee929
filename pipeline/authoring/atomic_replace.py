"""Atomic replacement of folders: built beside their place, then moved there."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from catalog.filesystem.operations import exchange_names, remove_made, sync_folder


@contextmanager
def built_beside(place: Path, source: Path) -> Iterator[Path]:
    """Yield a copy of a folder beside a place, to be changed; remove it unless it was moved.

    Links are copied as links. Scans ignore the name of the copy. Raises OSError.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    holder = Path(tempfile.mkdtemp(prefix=".skilldrop-", dir=place.parent))
    made = holder.lstat()
    try:
        yield Path(shutil.copytree(source, holder / place.name, symlinks=True))
    finally:
        remove_made(holder, made)


def put(built: Path, place: Path) -> None:
    """Move a built folder to a free place. Raises OSError."""
    sync_folder(built)
    os.rename(built, place)
    sync_folder(place.parent)


def exchange(built: Path, place: Path) -> Path:
    """Exchange a built folder with the one at a place; return the backup of the old one.

    One of the two is complete at the place at every moment. On a file system that cannot exchange
    two names atomically, the old one may briefly exist only as the backup. Raises OSError.
    """
    sync_folder(built)
    backup, made = _free(place), built.lstat()
    os.rename(built, backup)
    try:
        exchange_names(backup, place)
    except BaseException:  # if the exchange cannot be undone, the backup is the old folder
        remove_made(backup, made)
        raise
    sync_folder(place.parent)
    return backup


def _free(place: Path) -> Path:
    """Return an unused name for a backup; scans ignore names that end with `~`."""
    backup, number = place.with_name(f"{place.name}~"), 2
    while os.path.lexists(backup):
        backup, number = place.with_name(f"{place.name}.~{number}~"), number + 1
    return backup
