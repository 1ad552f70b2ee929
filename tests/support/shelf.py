"""Real catalog with published packages, for tests of its readers."""

import os
from pathlib import Path

from catalog.database import connection
from catalog.database.queries import Database
from pipeline.config import loader
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.engines import serial


class Shelf:
    """A root, its catalog and its packages, below one folder."""

    def __init__(self, top: Path, *, publish: str = "copy") -> None:
        self.root = top / "watched"
        self.root.mkdir(parents=True, exist_ok=True)
        self.settings = loader.load(None, self.root, top / "var").model_copy(
            update={"settle_quiet": 0, "publish": publish}
        )
        self.packages = self.settings.packages_folder
        self._db: Database | None = None

    @property
    def db(self) -> Database:
        """The catalog, opened as a reader does."""
        if self._db is None:
            self._db = connection.open_catalog(self.settings.catalog_path)
        return self._db

    def scan(self) -> None:
        """Update catalog and packages."""
        store = open_store(self.settings)
        try:
            scan_once(self.settings, store, engine=serial)
        finally:
            store.close()

    def loosen(self) -> None:
        """Make published packages writable."""
        for folder, _, _ in os.walk(self.packages):
            os.chmod(folder, 0o755)

    def flip(self, skill_id: str, version: str) -> None:
        """Let `current` lead to a version, in one step."""
        link = self.packages / skill_id / "current"
        beside = link.with_name(".current.new")
        beside.symlink_to(version)
        os.replace(beside, link)

    def version_folder(self, skill_id: str) -> Path:
        """Return the folder of the published version."""
        folder = self.packages / skill_id
        return folder / os.readlink(folder / "current")

    def close(self) -> None:
        """Close the reader's connection."""
        if self._db is not None:
            self._db.conn.close()
