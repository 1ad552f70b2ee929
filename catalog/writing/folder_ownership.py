"""Ownership of the folders that skilldrop writes to: packages, indexes, links, outcomes."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from stat import S_ISDIR, S_ISREG

from catalog.database.queries import Database
from catalog.filesystem.ownership import (
    FolderKind,
    OwnedFolder,
    identity_of,
    new_identity,
    opened,
    refuse_others,
)
from catalog.model.paths import os_path

_MOST_NAMES = 100
"""Maximum number of names to look up."""


class FolderOwnership:
    """The folders of one catalog, whose markers contain its identity."""

    def __init__(self, db: Database) -> None:
        """Take the catalog."""
        self._db = db

    @property
    def identity(self) -> str:
        """The identity in the markers; empty until the first folder is claimed."""
        return str(self._db.execute("SELECT ifnull(identity, '') FROM health").fetchone()[0])

    def claim(self, folders: Sequence[OwnedFolder]) -> None:
        """Check that folders belong to this catalog or are free. Raises FolderNotOwned."""
        if not self.identity:
            identity = identity_of(folders) or new_identity()
            self._db.execute("UPDATE health SET identity = ?", [identity])
        refuse_others(folders, self.identity, self._knows)

    @contextmanager
    def opened(self, folder: OwnedFolder) -> Iterator[int]:
        """Open a folder of this catalog; see `ownership.opened`."""
        if not self.identity:
            self.claim([folder])
        with opened(folder, self.identity, self._knows) as directory:
            yield directory

    def _knows(self, kind: FolderKind, directory: int) -> bool:
        """Return whether an open folder without a marker contains a file of this catalog."""
        if kind == "index":
            return _knows_index(self._db, directory)
        if kind not in _WRITTEN:
            return False  # no release made such a folder without a marker
        is_kind = S_ISDIR if kind == "packages" else S_ISREG
        return any(
            is_kind(_mode(os_path(name), directory))
            for (name,) in self._db.execute(_WRITTEN[kind], [_MOST_NAMES]).fetchall()
        )


_WRITTEN = {
    "packages": "SELECT package_path FROM versions WHERE package_path IS NOT NULL LIMIT ?",
    "outcomes": "SELECT path FROM outcomes ORDER BY id DESC LIMIT ?",
}


def _knows_index(db: Database, dir_fd: int) -> bool:
    """Return whether a folder contains the report of an index text that was published."""
    for (name,) in db.execute("SELECT name FROM indexes").fetchall():
        try:
            handle = os.open(
                f"{name}.meta.json", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=dir_fd
            )
            with open(handle, "rb") as file:
                sha256 = str(json.load(file)["sha256"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if db.execute("SELECT 1 FROM index_texts WHERE sha256 = ?", [sha256]).fetchone():
            return True
    return False


def _mode(path: str, dir_fd: int) -> int:
    """Return the mode of the file at a path in a folder; 0 if it is missing."""
    try:
        return os.stat(path, dir_fd=dir_fd, follow_symlinks=False).st_mode
    except OSError:
        return 0
