"""Source interface: the operations through which scans and packages read a root."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any, Protocol

from catalog.model.errors import RootUnreadable
from catalog.model.skill import FolderStats
from pipeline.roots.local.folder import Folder, Limits
from pipeline.roots.local.tree_walk import Archive, LooseFinding, SameFolder
from pipeline.roots.local_source import open_local
from pipeline.roots.snapshot import Snapshot

_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Source(Protocol):
    """Root that is open for reading, by one thread. All paths are relative to it.

    walk, split, folder and archive raise RootUnreadable if the root cannot be listed.
    """

    def is_in_place(self) -> bool:
        """Whether the configured path of the root still leads to this root."""

    def can_list(self) -> bool:
        """Whether the root can be listed."""

    def walk(self, path: str) -> Iterator[Folder | SameFolder | Archive | LooseFinding]:
        """Yield every skill folder, archive and loose finding at or below a path."""

    def stats_of(self, folder: Folder, before_ns: int) -> FolderStats | None:
        """Return what later walks compare a folder with; None if that does not suffice.

        before_ns is a time before the walk that found it, in ns since the epoch.
        """

    def split(self, paths: Iterable[str], enough: int) -> list[str]:
        """Return paths below these that together stand for them, about as many as `enough`."""

    def folder(self, path: str) -> Folder | None:
        """Return the skill folder at a path, on disk or in an archive; None if there is none."""

    def archive(self, path: str) -> Archive | None:
        """Return the archive that a path leads into; None if there is none."""

    def open_archive(self, archive: Archive) -> AbstractContextManager[list[Folder]]:
        """Open an archive and return its skill folders, readable in the context; OSError."""

    def read(self, folder: Folder) -> Snapshot | None:
        """Read a skill folder; None if it has changed since the walk."""

    def open_file(self, path: str) -> int:
        """Return the descriptor of a regular file, which the caller closes; OSError."""


def open_source(
    root: str,
    limits: Limits,
    fingerprints: Mapping[str, str] = _NOTHING,
    stats: Mapping[str, FolderStats] = _NOTHING,
) -> AbstractContextManager[Source]:
    """Open a root by its configured path, with what earlier walks found. Raises RootUnreadable.

    The path selects the implementation, which is always the disk today.
    """
    return open_local(root, limits, fingerprints, stats)


def can_list(root: str) -> bool:
    """Whether a root exists and can be listed."""
    try:
        with open_source(root, Limits()) as source:
            return source.can_list()
    except RootUnreadable:
        return False
