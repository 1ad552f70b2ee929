"""Background check of the catalog file for damage, while the file is written."""

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

from catalog.database.connection import check_pages, connect_to_read, is_damage
from catalog.model.errors import CatalogUnusable

SHARE = 0.05
"""Share of the time that checks may take."""


class FileCheck:
    """Check of every page in the file, which the writer may not notice because of its cache.

    It runs on a thread; SQLite lets other threads work meanwhile.
    """

    def __init__(self, path: Path) -> None:
        """Take the path of the catalog file."""
        self._path = path
        self._thread: threading.Thread | None = None
        self._not_before = 0.0
        self.damage: str | None = None
        """Sentence that describes the damage; None while there is none."""

    def begin(self, now: float) -> None:
        """Start a check unless one is running or recent; now is monotonic time in seconds."""
        if now < self._not_before or (self._thread and self._thread.is_alive()):
            return
        self._thread = threading.Thread(target=self._check, name="catalog check", daemon=True)
        self._thread.start()

    def _check(self) -> None:
        began = time.monotonic()
        try:
            with closing(connect_to_read(self._path)) as connection:
                connection.execute("PRAGMA cache_size = -256")  # each page is read once
                check_pages(connection, self._path)
        except (CatalogUnusable, sqlite3.Error) as error:
            if is_damage(error):
                self.damage = str(error)
        now = time.monotonic()
        self._not_before = now + (now - began) / SHARE
