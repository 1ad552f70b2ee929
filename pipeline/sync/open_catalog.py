"""Opens the catalog for writing under the settings in force."""

import hashlib
import logging
import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import TypeVar

from catalog.database.connection import explained
from catalog.filesystem.ownership import OwnedFolder, identity_of, refuse_others
from catalog.model.errors import CatalogDamaged, OutOfRoom, RootUnreadable
from catalog.writing.packages.builder import Packaging
from catalog.writing.packages.folder import PackageFolder
from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.dialects.registry import FINDING_TYPES
from pipeline.roots.local.folder import Limits
from pipeline.sync import listeners, package_sources
from pipeline.sync.engines.pool import WorkerPool

T = TypeVar("T")
log = logging.getLogger("skilldrop")


def open_store(
    settings: Settings,
    progress: Callable[[int], None] = lambda _: None,
    *,
    needs_root: bool = True,
    damage: str | None = None,
) -> Store:
    """Return the catalog, told which roots and indexes are configured, its packages as it says.

    progress is told how many skills had to be published for that. A damaged catalog is replaced
    by a new one; damage says how it was found out before.

    Raises CatalogBusy, CatalogUnusable, DiskFull, FolderNotOwned where a folder is not this
    catalog's, and RootUnreadable where no root can be read; one of several that cannot is noted
    in the catalog and looked for again. needs_root says whether one must be readable at all.
    """
    roots = settings.root_specs
    troubles = [trouble for root in roots if (trouble := _trouble(root.path))]
    if needs_root and len(troubles) == len(roots):
        raise RootUnreadable(" ".join(troubles))
    folders = folders_of(settings)
    if not settings.catalog_path.exists():  # refused before anything is made
        with explained(settings.catalog_path):
            refuse_others(folders, identity_of(folders))
    store = Store.open(settings.catalog_path, datetime.now(UTC), damage=damage)
    try:
        with explained(settings.catalog_path):
            store.folders.claim(folders)
            store.roots.configure(roots, rules_in_force(), datetime.now(UTC))
            store.indexes.configure(settings.index_specs)
            store.events.register(listeners.ALL)
            try:
                for published in store.publish_into(
                    packaging_of(settings), datetime.now(UTC), settings.retention.quota
                ):
                    progress(published)
            except OutOfRoom as error:  # the next full scan tries again, and removes what is gone
                log.warning("%s", error)
                store.repair.is_incomplete = True
    except CatalogDamaged as error:  # where only these steps look
        store.close()
        if damage:
            raise
        return open_store(settings, progress, needs_root=needs_root, damage=str(error))
    except BaseException:
        store.close()
        raise
    return store


def with_store(
    settings: Settings,
    work: Callable[[Store], T],
    progress: Callable[[int], None] = lambda _: None,
    *,
    needs_root: bool = True,
) -> T:
    """Do something with the catalog open for writing; once more where it proves damaged.

    Raises what `open_store` and the work raise.
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
    """Return the folders that skilldrop writes to, beside the catalog."""
    return (
        OwnedFolder(settings.packages_folder, "packages"),
        OwnedFolder(settings.index_folder, "index"),
        OwnedFolder(settings.outcomes_folder, "outcomes"),
    )


def packaging_of(settings: Settings) -> Packaging:
    """Return where packages lie, what they are made of, and which skills have one."""
    limits = Limits(**settings.limits.model_dump())
    return Packaging(
        PackageFolder(settings.packages_folder),
        partial(package_sources.opened, limits),
        in_place=settings.publish == "in-place",
        at_work=WorkerPool().at_work,
    )


def rules_in_force() -> str:
    """Return a name for all the rules together; a skill judged by others is judged again."""
    types = repr([(kind.code, kind.severity, sorted(kind.rejects)) for kind in FINDING_TYPES])
    return f"{version('skilldrop')}-{hashlib.sha256(types.encode()).hexdigest()[:8]}"


def _trouble(root: str) -> str | None:
    try:
        os.scandir(root).close()
    except OSError as error:
        return (
            f"The root {root} cannot be read: {error.strerror}."
            " Create it, or name another with --watched."
        )
    return None
