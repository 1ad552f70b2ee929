"""The health row, and the rows of troubles."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from catalog.database import stored_health
from catalog.database.queries import Database
from catalog.database.sql import Transaction
from catalog.model.trouble import Trouble
from catalog.text.humanize import iso


class Health:
    """The health of the service and the catalog, as readers see it."""

    def __init__(self, db: Database, transaction: Transaction) -> None:
        """Take the catalog and its transactions."""
        self._db = db
        self._transaction = transaction

    def set(self, **fields: Any) -> None:
        """Set columns of the one health row; times are datetimes."""
        values = {
            name: iso(value) if isinstance(value, datetime) else value
            for name, value in fields.items()
        }
        settings = ", ".join(f"{name} = :{name}" for name in values)
        self._db.execute(f"UPDATE health SET {settings}", values)

    def set_troubles(self, troubles: Sequence[Trouble]) -> None:
        """Replace the rows of failed work that is retried."""
        with self._transaction():
            stored_health.replace(self._db, troubles)

    def count_overflow(self) -> None:
        """Count one more overflow of the system's event queue."""
        self._db.execute("UPDATE health SET overflows = overflows + 1")
