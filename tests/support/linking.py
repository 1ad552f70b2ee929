"""Root, catalog and directories of links on a real disk, scanned by command."""

import os
from pathlib import Path
from typing import Any

from catalog.writing.store import Store
from pipeline.config.settings import Settings
from pipeline.service.open_catalog import open_store
from pipeline.service.reconcile import compare_once
from pipeline.service.run_once import scan_once
from tests.support.skills import write_skill


class Linking:
    """Catalog whose every scan opens and closes it, as a command does."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        self.root = folder / "root"
        self.root.mkdir(exist_ok=True)
        self.settings = self._settings(**settings)
        self.skills = self.settings.skills_folder

    def with_settings(self, **settings: Any) -> "Linking":
        """Change the settings."""
        self.settings = self._settings(**settings)
        return self

    def _settings(self, **settings: Any) -> Settings:
        return Settings(
            watched=self.root,
            data=self.folder / "data",
            settle_quiet=0,
            site={"enabled": False},
            **settings,
        )

    def add(self, *names: str) -> None:
        """Write a skill for each name."""
        for name in names:
            write_skill(self.root / name)

    def open(self) -> Store:
        """Open the catalog; the caller closes it."""
        return open_store(self.settings)

    def scan(self) -> None:
        """Scan and publish everything."""
        store = self.open()
        try:
            scan_once(self.settings, store)
        finally:
            store.close()

    def differences(self) -> list[str]:
        """Return what `reconcile --check` finds at this moment."""
        return [
            f"{difference.path}: {difference.message}"
            for difference in compare_once(self.settings).differences
        ]


def links_in(folder: Path) -> dict[str, str]:
    """Return the target of each link in a folder."""
    return {name.name: os.readlink(name) for name in sorted(folder.iterdir()) if name.is_symlink()}


def names_in(folder: Path) -> list[str]:
    """Return the entries of a folder, without the marker."""
    return sorted(entry.name for entry in folder.iterdir() if entry.name != ".skilldrop")
