"""New catalogs with tables that were made once for all tests of a process.

The migration of an empty file takes 20 ms, and tests create thousands of catalogs.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from typing import Any

import pytest
from sqlite_utils import Database

from catalog.database.schema import migrations
from catalog.model.declarations import RECORDS

_migrate = migrations.apply


@contextmanager
def copied() -> Iterator[None]:
    """Let a database without tables get all of them as a copy, until the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrations, "apply", _apply)
        yield


def _apply(db: Database, **options: Any) -> None:
    """Run all migrations, or copy their result into an empty database."""
    if options or db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        _migrate(db, **options)
        return
    page_size, application_id = (
        db.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "application_id")
    )
    with closing(sqlite3.connect(":memory:")) as ready:
        ready.deserialize(_migrated(page_size, application_id, frozenset(RECORDS)))
        ready.backup(db.conn)


@cache
def _migrated(page_size: int, application_id: int, dialects: frozenset[str]) -> bytes:
    """Return the bytes of a database after all migrations, with tables for some dialects."""
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute(f"PRAGMA page_size = {page_size}")
        connection.execute(f"PRAGMA application_id = {application_id}")
        _migrate(Database(connection))
        return connection.serialize()
