"""Ownership of the folders that skilldrop writes to: packages, indexes, links, outcomes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import uuid4

from catalog.database.queries import Database
from catalog.filesystem.ownership import (
    OwnedFolder,
    identity_of,
    opened,
    refuse_others,
)


class FolderOwnership:
    """The folders of one catalog, whose markers contain its identity."""

    def __init__(self, db: Database) -> None:
        self._db = db

    @property
    def identity(self) -> str:
        """The identity in the markers; empty until the first folder is claimed."""
        return str(self._db.execute("SELECT ifnull(identity, '') FROM health").fetchone()[0])

    def claim(self, folders: Sequence[OwnedFolder], former: str | None = None) -> None:
        """Check that folders belong to this catalog or are free. Raises FolderNotOwned.

        A new catalog takes over the former identity, or that of the one that left the folders.
        """
        if not self.identity:
            identity = former or identity_of(folders) or uuid4().hex
            self._db.execute("UPDATE health SET identity = ?", [identity])
        refuse_others(folders, self.identity)

    @contextmanager
    def opened(self, folder: OwnedFolder) -> Iterator[int]:
        """Open a folder of this catalog; see `ownership.opened`."""
        if not self.identity:
            self.claim([folder])
        with opened(folder, self.identity) as directory:
            yield directory
