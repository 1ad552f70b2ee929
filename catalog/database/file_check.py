"""Check of a catalog's file for damage while it is written, on a thread of its own."""

import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path

from catalog.database.connection import check_pages, connect_to_read, is_damage
from catalog.model.errors import CatalogUnusable

SHARE = 0.05
"""The share of the time that checks may take."""


class FileCheck:
    """Looks at every page as it lies in the file; the writer may work on from its cache for long.

    Nobody waits for it: SQLite lets other threads work meanwhile.
    """

    def __init__(self, path: Path) -> None:
        """Take the catalog's file."""
        self._path = path
        self._thread: threading.Thread | None = None
        self._not_before = 0.0
        self.damage: str | None = None
        """A sentence that says what is wrong; None while nothing is."""

    def begin(self, now: float) -> None:
        """Check the file, unless that is being done, or was a moment ago; now is monotonic."""
        if now < self._not_before or (self._thread and self._thread.is_alive()):
            return
        self._thread = threading.Thread(target=self._check, name="catalog check", daemon=True)
        self._thread.start()

    def _check(self) -> None:
        began = time.monotonic()
        try:
            with closing(connect_to_read(self._path)) as connection:
                check_pages(connection, self._path)
        except (CatalogUnusable, sqlite3.Error) as error:
            if is_damage(error):
                self.damage = str(error)
        now = time.monotonic()
        self._not_before = now + (now - began) / SHARE
