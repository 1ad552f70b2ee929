"""Root, catalog and packages on a real disk, updated without waiting."""

import hashlib
import sqlite3
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from catalog.audit import verdicts
from catalog.audit.published_files import of_packages
from catalog.audit.verdicts import Difference
from catalog.database.queries import Database
from catalog.filesystem.ownership import OwnedFolder
from catalog.model.skill import RootSpec
from catalog.prompt_index.spec import IndexSpec
from catalog.writing.packages.builder import Packaging
from catalog.writing.store import Store
from pipeline.processes import at_work
from pipeline.service import open_catalog
from pipeline.service.listeners import log_changes
from pipeline.service.scanning.change_batches import Report
from tests.support.records import NOON
from tests.support.scanning import scan_all, scan_units


class World:
    """Everything that publication changes."""

    def __init__(self, folder: Path, *, in_place: bool = False) -> None:
        self.root = folder / "root"
        self.root.mkdir(parents=True, exist_ok=True)
        self.roots = [RootSpec(str(self.root))]
        self.packages = folder / "packages"
        self.folder = folder
        self.store = self.opened(in_place=in_place)

    def opened(self, *, in_place: bool = False) -> Store:
        """Open the catalog as a start of the program does."""
        store = Store.open(self.folder / "catalog.db")
        store.roots.configure(self.roots, "rules", NOON)
        store.events.register(open_catalog.ALL)
        list(
            store.publish_into(
                Packaging(
                    OwnedFolder(self.packages, "packages"),
                    open_catalog.package_sources,
                    in_place=in_place,
                    at_work=at_work,
                ),
                NOON,
            )
        )
        return store

    def restart(self, *, in_place: bool = False) -> None:
        """Close the catalog and open it again."""
        self.store.close()
        self.store = self.opened(in_place=in_place)

    def scan(self, *, deep: bool = False) -> Report:
        """Make a full scan."""
        report = scan_all(self.store, self.roots, deep=deep)
        self.log()
        return report

    def log(self) -> None:
        """Log the changes since the last call, as a service does."""
        self.store.events.deliver(open_catalog.LOG, log_changes)

    def look(self, *units: str) -> Report:
        """Scan some units."""
        return scan_units(self.store, self.roots, *units)

    def publish(self) -> None:
        """Publish the index into a separate folder."""
        self.store.indexes.configure([IndexSpec()])
        self.store.publish_indexes([IndexSpec()], self.folder / "index", NOON)

    def lying(self) -> list[str]:
        """Return each skill_id with a folder among the packages."""
        return sorted(shelf.name for shelf in self.packages.glob("[!.]*"))

    def current(self, skill_id: str) -> Path:
        """Return the target of `current`, resolved once as a reader does."""
        return (self.packages / skill_id / "current").resolve()

    def rows(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Query the catalog."""
        return self.store.db.execute(sql, list(values)).fetchall()

    def differences(self) -> list[str]:
        """Return the differences between packages and catalog; ideally none."""
        return list(_differences(self.store.db, self.packages))


def _differences(db: Database, packages: Path) -> Iterator[str]:
    public = db.execute(
        "SELECT s.skill_id, s.package_path, v.id, v.package_path, has_package(s.path)"
        " FROM skills AS s JOIN versions AS v ON v.id = s.current_version_id"
        " WHERE s.status = 'active'"
    ).fetchall()
    for skill_id, path, version, same_path, expected in public:
        if not expected:
            if path:
                yield f"{skill_id} has a package"
            continue
        if not path or path != same_path:
            yield f"{skill_id}: {path} is not {same_path}"
            continue
        where = packages / skill_id / "current"
        if not where.is_symlink() or where.resolve() != packages / path:
            yield f"{skill_id}: current is not {path}"
        yield from (f"{path}/{name}" for name in wrong_files(db, version, packages / path))
    named = {
        path
        for (path,) in db.execute(
            "SELECT package_path FROM versions WHERE package_path IS NOT NULL"
        )
    }
    for shelf in packages.glob("[!.]*"):
        for version in shelf.iterdir():
            if version.name != "current" and f"{shelf.name}/{version.name}" not in named:
                yield f"nobody names {shelf.name}/{version.name}"


def wrong_files(db: Database | sqlite3.Connection, version: int, package: Path) -> list[str]:
    """Return the files of a package that differ from the version in the catalog."""
    expected = {
        path: (sha256, mode)
        for path, sha256, mode in db.execute(
            "SELECT path, sha256, mode FROM files WHERE version = ?", [version]
        ).fetchall()
    }
    found = {
        str(file.relative_to(package)): (
            hashlib.sha256(file.read_bytes()).hexdigest(),
            {0o444: "644", 0o555: "755"}.get(file.stat().st_mode & 0o777),
        )
        for file in package.rglob("*")
        if not file.is_dir()
    }
    return sorted(
        name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)
    )


def audits(world: World) -> list[Difference]:
    """Return the contradictions in the catalog, and between it and its publications."""
    packaging = world.store.packager.packaging
    assert packaging
    return [
        *verdicts.of_catalog(world.store.db),
        *of_packages(world.store.db, packaging),
    ]


def later(minutes: int) -> datetime:
    """Return a moment after NOON."""
    return NOON + timedelta(minutes=minutes)
