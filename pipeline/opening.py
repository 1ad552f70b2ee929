"""Opens the catalog for writing under the settings in force."""

import hashlib
import os
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version

from catalog.connection import explained
from catalog.errors import RootUnreadable
from catalog.making import Packaging
from catalog.package_folder import PackageFolder
from catalog.store import Store
from pipeline import originals
from pipeline.config import Settings
from pipeline.crew import Crew
from pipeline.disk import Limits
from pipeline.findings.registry import REGISTRY


def open_store(settings: Settings, progress: Callable[[int], None] = lambda _: None, *,
               needs_root: bool = True) -> Store:
    """Return the catalog, told which roots and indexes are configured, its packages as it says.

    progress is told how many skills had to be published for that.

    Raises CatalogBusy, CatalogUnusable, DiskFull, and RootUnreadable where no root can be read;
    one of several that cannot is noted in the catalog and looked for again. needs_root says
    whether one must be readable at all.
    """
    roots = settings.root_specs
    troubles = [trouble for root in roots if (trouble := _trouble(root.path))]
    if needs_root and len(troubles) == len(roots):
        raise RootUnreadable(" ".join(troubles))
    store = Store.open(settings.catalog_path)
    try:
        with explained(settings.catalog_path):
            store.set_roots(roots, rules_in_force(), datetime.now(UTC))
            store.set_indexes(settings.index_specs)
            for published in store.publish_into(packaging_of(settings), datetime.now(UTC)):
                progress(published)
    except BaseException:
        store.close()
        raise
    return store


def packaging_of(settings: Settings) -> Packaging:
    """Return where packages lie, what they are made of, and which skills have one."""
    limits = Limits(**settings.limits.model_dump())
    return Packaging(PackageFolder(settings.packages_folder),
                     partial(originals.opened, limits),
                     in_place=settings.publish == "in-place", at_work=Crew().at_work)


def rules_in_force() -> str:
    """Return a name for all the rules together; a skill judged by others is judged anew."""
    types = repr([(kind.code, kind.severity, sorted(kind.rejects)) for kind in REGISTRY.values()])
    return f"{version('skilldrop')}-{hashlib.sha256(types.encode()).hexdigest()[:8]}"


def _trouble(root: str) -> str | None:
    try:
        os.scandir(root).close()
    except OSError as error:
        return (f"The root {root} cannot be read: {error.strerror}."
                " Create it, or name another with --watched.")
    return None
