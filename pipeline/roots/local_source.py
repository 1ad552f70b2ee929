"""Source of a root on disk."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from catalog.model.paths import os_path
from catalog.model.skill import FolderStats
from pipeline.roots import reader
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.local import files, walk
from pipeline.roots.local.folder import Folder, Limits
from pipeline.roots.local.root_directory import RootDirectory, held_open
from pipeline.roots.local.stat_cache import StatCache
from pipeline.roots.local.tree_walk import Archive, LooseFinding, SameFolder, confined
from pipeline.roots.snapshot import Snapshot


@contextmanager
def open_local(
    path: str,
    limits: Limits,
    fingerprints: Mapping[str, str],
    stats: Mapping[str, FolderStats],
) -> Iterator["LocalSource"]:
    """Open a directory as a root. Raises RootUnreadable."""
    with held_open(Path(path)) as root:
        yield LocalSource(root, limits, StatCache(root, limits, fingerprints, stats))


class LocalSource:
    """Directory and everything below it, behind the interface `pipeline.roots.source.Source`."""

    def __init__(self, root: RootDirectory, limits: Limits, cache: StatCache) -> None:
        """Take the open directory, the limits of skill folders in it, and their stats."""
        self._root = root
        self._limits = limits
        self._cache = cache

    def is_in_place(self) -> bool:
        """Whether the configured path of the root still leads to this root."""
        return self._root.is_in_place()

    def can_list(self) -> bool:
        """Whether the root can be listed."""
        return reader.can_list(Path(self._root.path))

    def walk(self, path: str) -> Iterator[Folder | SameFolder | Archive | LooseFinding]:
        """Yield every skill folder, archive and loose finding at or below a path."""
        return confined(self._root.path, path.removesuffix(walk.ITSELF), self._walk(path))

    def _walk(self, path: str) -> Iterator[Folder | SameFolder | Archive | LooseFinding]:
        if walk.is_same(self._root, path, self._limits, self._cache):
            yield SameFolder(path)
        else:
            yield from walk.walk(self._root, path, self._limits, self._cache)

    def stats_of(self, folder: Folder, before_ns: int) -> FolderStats | None:
        """Return what later walks compare a folder with; None if that does not suffice."""
        return self._cache.stats_of(folder, before_ns)

    def split(self, paths: Iterable[str], enough: int) -> list[str]:
        """Return paths below these that together stand for them, about as many as `enough`."""
        return walk.taken_apart(self._root, paths, enough, self._limits.depth)

    def folder(self, path: str) -> Folder | None:
        """Return the skill folder at a path, on disk or in an archive; None if there is none."""
        return reader.look(self._root, path, self._limits)

    def archive(self, path: str) -> Archive | None:
        """Return the archive that a path leads into; None if there is none."""
        return walk.archive_at(self._root, path, self._limits)

    def open_archive(self, archive: Archive) -> AbstractContextManager[list[Folder]]:
        """Open an archive and return its skill folders, readable in the context; OSError."""
        return open_archive(archive)

    def read(self, folder: Folder) -> Snapshot | None:
        """Read a skill folder; None if it has changed since the walk."""
        return reader.read(self._root, folder, self._limits)

    def open_file(self, path: str) -> int:
        """Return the descriptor of a regular file, which the caller closes; OSError."""
        return files.opened_inside(self._root, f"/{os_path(path)}")
