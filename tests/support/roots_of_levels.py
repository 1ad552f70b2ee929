"""Roots of several levels and their catalog, with real scans."""

import os
from pathlib import Path

from catalog.model.skill import RootSpec
from catalog.writing.store import Store
from pipeline.service import open_catalog
from pipeline.service.listeners import log_changes
from pipeline.service.scanning.change_batches import Report
from tests.support.records import NOON
from tests.support.scanning import scan_all


class Roots:
    """Roots of several levels and their catalog."""

    def __init__(self, folder: Path, roots: list[tuple[str, str]]) -> None:
        self.folder = folder
        self.specs = [
            RootSpec(str(folder / name), level)  # type: ignore[arg-type]
            for name, level in roots
        ]
        for spec in self.specs:
            os.makedirs(spec.path)
        self.store = Store.in_memory()
        self.store.roots.configure(self.specs, "rules", NOON)
        self.store.events.register(open_catalog.ALL)

    def scan(self) -> Report:
        """Run a full scan."""
        report = scan_all(self.store, self.specs)
        self.store.events.deliver(open_catalog.LOG, log_changes)
        return report

    def skills(self, *columns: str) -> dict[str, tuple[str, ...]]:
        """Return columns of each existing skill, by its path relative to all roots."""
        return {
            os.path.relpath(f"{root}/{path}", self.folder): tuple(values)
            for root, path, *values in self.store.db.execute(
                f"SELECT root, path, {', '.join(columns)} FROM skills WHERE status != 'removed'"
            )
        }

    def statuses(self) -> dict[str, str]:
        """Return the status of each skill."""
        return {path: status for path, (status,) in self.skills("status").items()}
