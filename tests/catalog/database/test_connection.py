"""Which catalog files are opened, and which are refused unchanged."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from catalog.database import connection as database_connection
from catalog.database.connection import check_pages
from catalog.model.errors import CatalogDamaged, CatalogUnusable
from catalog.writing.store import Store

PAGE = 16_384
"""Bytes of a page of the catalog's file."""


def open_to_write(path: Path) -> None:
    """Open a catalog as a command does that writes."""
    Store.open(path).close()


def open_to_read(path: Path) -> None:
    """Open a catalog as a command does that reads."""
    database_connection.open_catalog(path).conn.close()


NEWER = (
    "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
    " VALUES ('skilldrop', 'm999_other', '2030-01-01')"
)
UNRELEASED = "UPDATE _sqlite_migrations SET name = 'm999_other'"


@pytest.mark.parametrize("opening", [open_to_write, open_to_read])
@pytest.mark.parametrize("layout", [NEWER, UNRELEASED], ids=["newer", "unreleased"])
def test_a_catalog_with_unknown_migrations_is_refused_unchanged(
    layout: str, opening: Callable[[Path], None], tmp_path: Path
) -> None:
    """Only the release that made its tables knows what they mean."""
    path = tmp_path / "catalog.db"
    open_to_write(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(layout)
        db.commit()
    before = path.read_bytes()
    with pytest.raises(CatalogUnusable, match=r"newer or unreleased version .* .m999_other."):
        opening(path)
    assert path.read_bytes() == before


def test_damage_is_told_by_its_page_and_in_no_words_of_sqlites_own(tmp_path: Path) -> None:
    """Which of its functions failed, and with what code, helps nobody."""
    path = tmp_path / "catalog.db"
    open_to_write(path)
    with path.open("r+b") as file:
        file.seek(4 * PAGE)
        file.write(bytes(PAGE))
    said = r"catalog\.db is damaged on page 5\.$"
    with closing(sqlite3.connect(path)) as db, pytest.raises(CatalogDamaged, match=said):
        check_pages(db, path)
