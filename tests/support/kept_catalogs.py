"""Catalog of a root that is kept without a service: scanned, compared, and damaged on purpose."""

import sqlite3
from pathlib import Path

from pipeline.config.settings import Settings
from pipeline.service import reconcile
from pipeline.service.open_catalog import open_store
from pipeline.service.reconcile import Comparison
from pipeline.service.run_once import scan_once


class Kept:
    """Root and its catalog, without changes in progress."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.root.mkdir()
        self.settings = Settings(
            watched=self.root, data=folder / "data", settle_quiet=0, site={"enabled": False}
        )

    def scan(self) -> None:
        """Bring the catalog up to the root."""
        store = open_store(self.settings)
        scan_once(self.settings, store)
        store.close()

    def compare(self) -> Comparison:
        """Compare everything."""
        return reconcile.compare(self.settings)

    def published(self, skill_id: str = "a") -> Path:
        """Return the published package of a skill."""
        return (self.settings.packages_folder / skill_id / "current").resolve()

    def package(self, skill_id: str = "a") -> Path:
        """Return the published package of a skill, made writable, as damage would need it."""
        package = self.published(skill_id)
        for path in (package, *package.rglob("*")):
            path.chmod(path.stat().st_mode | 0o200)
        return package

    def write(self, sql: str, *values: object) -> None:
        """Damage the catalog."""
        with sqlite3.connect(self.settings.catalog_path) as db:
            db.execute(sql, values)
        db.close()
