"""Composition root: opens the catalog for writing, with the sources of its packages."""

import errno
import hashlib
import io
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from catalog.database.connection import explained
from catalog.filesystem.operations import directory
from catalog.filesystem.ownership import OwnedFolder, identity_of, refuse_others, refuse_owned
from catalog.model.errors import CatalogDamaged, NotAsJudged, OutOfRoom, RootUnreadable
from catalog.model.paths import archive_of
from catalog.model.values import VERSION
from catalog.writing.packages.builder import Packaging
from catalog.writing.packages.staging import Original
from catalog.writing.routing import LISTENER as ROUTING
from catalog.writing.store import Store
from pipeline.config import loader
from pipeline.config.settings import Settings
from pipeline.dialects.registry import FINDING_TYPES
from pipeline.processes import at_work
from pipeline.roots.archives.reader import open_archive
from pipeline.roots.local.folder import Archive, Folder, Limits
from pipeline.roots.source import DEFAULT_LIMITS, Source, open_source
from pipeline.service.scanning import lost_catalog

LOG = "log"
INDEXES = "indexes"
ALL = (LOG, INDEXES, ROUTING)
"""Those of every catalog; each hook is one more."""


WORTH_STARTING = 8
"""Fewest pieces of packages or copies for which processes are started."""

log = logging.getLogger("skilldrop")

T = TypeVar("T")


def open_store(
    settings: Settings,
    progress: Callable[[int], None] = lambda _: None,
    *,
    needs_root: bool = True,
    damage: str | None = None,
    identity: str | None = None,
) -> Store:
    """Return the catalog with its roots and indexes configured and its packages repaired.

    progress is called with the number of skills published so far by that repair. A damaged catalog
    is replaced by a new one; damage describes damage that an earlier attempt found. identity is
    that of the catalog which the caller had open until it was lost.

    Raises CatalogBusy, CatalogUnusable, NotPossible if the disk is full, FolderNotOwned if a folder
    belongs to another catalog, and RootUnreadable if no root can be read and needs_root is set. If
    only some roots cannot be read, the catalog notes this, and later scans try again.
    """
    roots = settings.root_specs
    troubles = [trouble for root in roots if (trouble := trouble_of_root(root.path))]
    if needs_root and len(troubles) == len(roots) and not settings.git_roots:
        raise RootUnreadable(" ".join(troubles))
    # One that is not ours stops no start: the service says so, and publishes once it is gone.
    folders = [folder for folder in folders_of(settings) if folder.kind != "skills"]
    if not settings.catalog_path.exists():  # refuse before creating anything
        with explained(settings.catalog_path):
            with suppress(FileNotFoundError), directory(settings.data) as data:
                refuse_owned(data, settings.data)
            refuse_others(folders, identity or identity_of(folders))
    store = Store.open(settings.catalog_path, datetime.now(UTC), damage=damage)
    try:
        with explained(settings.catalog_path):
            store.folders.claim(folders, identity)
            _configure(store, settings, progress)
    except CatalogDamaged as error:  # damage that opening does not detect
        store.close()
        if damage:
            raise
        return open_store(
            settings, progress, needs_root=needs_root, damage=str(error), identity=identity
        )
    except BaseException:
        store.close()
        raise
    return store


def _configure(store: Store, settings: Settings, progress: Callable[[int], None]) -> None:
    """Apply the settings to an open catalog, and complete its derived rows and its packages."""
    if store.takeover.is_due:
        lost_catalog.take_over(store, settings)
    commits = {mirror.root: mirror.commit for mirror, _ in settings.git_roots}
    store.roots.configure(settings.root_specs, rules_in_force(settings), datetime.now(UTC), commits)
    store.indexes.configure(settings.indexes)
    store.links.configure(settings.skills_folder, settings.links)
    store.events.register([*ALL, *(hook.listener for hook in settings.hooks)])
    try:
        for published in store.publish_into(
            packaging_of(settings), datetime.now(UTC), settings.retention
        ):
            progress(published)
    except OutOfRoom as error:  # the next full scan frees space and tries again
        log.warning("%s", error)
        store.repair.is_incomplete = True


def with_store(
    settings: Settings,
    work: Callable[[Store], T],
    progress: Callable[[int], None] = lambda _: None,
    *,
    needs_root: bool = True,
) -> T:
    """Do work with the catalog open for writing; repeat it if the catalog proves damaged.

    Raises the errors of `open_store` and of the work.
    """
    store = open_store(settings, progress, needs_root=needs_root)
    try:
        with explained(settings.catalog_path):
            return work(store)
    except CatalogDamaged as error:
        store.close()
        store = open_store(settings, progress, needs_root=needs_root, damage=str(error))
        with explained(settings.catalog_path):
            return work(store)
    finally:
        store.close()


def folders_of(settings: Settings) -> tuple[OwnedFolder, ...]:
    """Return the folders beside the catalog that skilldrop writes to."""
    return (
        OwnedFolder(settings.packages_folder, "packages"),
        OwnedFolder(settings.index_folder, "index"),
        OwnedFolder(settings.skills_folder, "skills"),
        OwnedFolder(settings.outcomes_folder, "outcomes"),
        OwnedFolder(settings.mirrors_folder, "mirrors"),
    )


def packaging_of(settings: Settings) -> Packaging:
    """Return the folder, the sources and the mode of packages."""
    limits = settings.limits
    return Packaging(
        OwnedFolder(settings.packages_folder, "packages"),
        partial(package_sources, limits),
        in_place=settings.publish == "in-place",
        at_work=partial(at_work, fewest=WORTH_STARTING),
    )


def publish(settings: Settings, store: Store, at: datetime) -> list[str]:
    """Rebuild the configured indexes; return the names of those with a new text. Raises OSError."""
    return store.publish_indexes(settings.indexes, settings.index_folder, at, settings.retention)


def rules_in_force(settings: Settings) -> str:
    """Return an id of the whole rule set; a skill judged under another id is judged again."""
    types = [(type_.code, type_.severity, sorted(type_.rejects)) for type_ in FINDING_TYPES]
    rules = repr((types, settings.validation.ignore, settings.validation.severity))
    return f"{VERSION}-{hashlib.sha256(rules.encode()).hexdigest()[:8]}"


def trouble_of_root(root: str) -> str | None:
    """Return a sentence if a root cannot be listed."""
    try:
        os.scandir(root).close()
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        init = "" if loader.file_in_force() else ", run `skilldrop config init`,"
        create = f"Create it{init} or name" if is_missing else "Name"
        return (
            f"The root {root} cannot be read: {error.strerror}. {create} another with --watched,"
            " or its settings with --config."
        )
    return None


@contextmanager
def package_sources(limits: Limits = DEFAULT_LIMITS) -> Iterator[Callable[[str, str], Original]]:
    """Give access to skill folders; files of archives are readable until the context ends."""
    with ExitStack() as roots, ExitStack() as archive:
        yield PackageSources(limits, roots, archive).files_of


class PackageSources:
    """Skill folders in their present state; the most recent archive stays open."""

    def __init__(self, limits: Limits, roots: ExitStack, archive: ExitStack) -> None:
        """Take the stacks that close the open roots and the open archive."""
        self._limits = limits
        self._roots = roots
        self._open: dict[str, Source] = {}
        self._close_archive = archive.close
        self._enter_archive = archive.enter_context
        self._archive: Archive | None = None
        self._folders: dict[str, Folder] = {}  # of the archive, by path

    def files_of(self, root: str, path: str) -> Original:
        """Return the files of a skill folder. Raises NotAsJudged if it cannot be read."""
        try:
            if root not in self._open or not self._open[root].is_in_place():
                self._open[root] = self._roots.enter_context(open_source(root, self._limits))
            if not archive_of(path):
                return partial(_in_folder, self._open[root], path)
            folder = self._in_archive(self._open[root], path)
        except (OSError, RootUnreadable) as error:
            raise NotAsJudged(str(error)) from error
        if folder is None:
            raise NotAsJudged(f"{path} is no longer a skill folder.")
        return partial(_in_archive, folder)

    def _in_archive(self, source: Source, path: str) -> Folder | None:
        archive = source.archive(path)
        if archive is None:
            return None
        if archive != self._archive:
            self._archive = None
            self._close_archive()
            folders = self._enter_archive(open_archive(archive))
            self._folders = {folder.path: folder for folder in folders}
            self._archive = archive
        return self._folders.get(path)


def _in_folder(source: Source, folder: str, path: str) -> io.RawIOBase:
    """Open a regular file inside a root.

    The folder is not listed again: hashes detect files other than the validated ones.
    """
    return io.FileIO(source.open_file(f"{folder}/{path}"))


def _in_archive(folder: Folder, path: str) -> io.RawIOBase:
    """Start to unpack a file of a skill in an open archive."""
    if not folder.content or not any(path == name for name, _ in folder.entries):
        raise FileNotFoundError(errno.ENOENT, "is not there any more", path)
    return _Chunks(folder.content.chunks(f"{folder.path}/{path}"))


class _Chunks(io.RawIOBase):
    """File of an archive, unpacked chunk by chunk; it has no descriptor."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks

    def read(self, _: int = -1, /) -> bytes:
        """Return the next chunk of any size."""
        return next(self._chunks, b"")
