"""Catalog files that are opened, and others that are refused unchanged."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from catalog.database import connection as database_connection
from catalog.database.connection import check_pages, connect_to_read, explained
from catalog.model.errors import CatalogDamaged, CatalogUnusable, NotPossible, SkilldropError
from catalog.writing.store import Store

PAGE = 16_384
"""Bytes of a page of the catalog file."""


def open_to_write(path: Path) -> None:
    """Open a catalog as a writing command does."""
    Store.open(path).close()


def open_to_read(path: Path) -> None:
    """Open a catalog as a reading command does."""
    database_connection.open_catalog(path).conn.close()


NEWER = (
    "INSERT INTO _sqlite_migrations (migration_set, name, applied_at)"
    " VALUES ('skilldrop', 'm999_other', '2030-01-01')"
)


@pytest.mark.parametrize("opening", [open_to_write, open_to_read])
def test_a_catalog_with_unknown_migrations_is_refused_unchanged(
    opening: Callable[[Path], None], tmp_path: Path
) -> None:
    """Only the release that created its tables understands them."""
    path = tmp_path / "catalog.db"
    open_to_write(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(NEWER)
        db.commit()
    before = path.read_bytes()
    with pytest.raises(CatalogUnusable, match=r"newer version .* .m999_other."):
        opening(path)
    assert path.read_bytes() == before


def test_an_empty_catalog_is_reported_in_one_sentence(tmp_path: Path) -> None:
    """The message names the commands that fill the file."""
    path = tmp_path / "catalog.db"
    path.touch()
    with pytest.raises(CatalogUnusable) as raised:
        open_to_read(path)
    assert str(raised.value) == (
        f"The catalog {path} is empty. Fill it with `skilldrop scan` or `skilldrop up`."
    )


@pytest.mark.parametrize("opening", [open_to_write, open_to_read])
def test_a_directory_in_place_of_the_catalog_is_reported_in_one_sentence(
    opening: Callable[[Path], None], tmp_path: Path
) -> None:
    """It is not called a missing catalog, and SQLite's own message does not appear."""
    path = tmp_path / "catalog.db"
    path.mkdir()
    with pytest.raises(CatalogUnusable) as raised:
        opening(path)
    assert str(raised.value) == (
        f"{path} is a directory, not a catalog file. Move it away, or choose another --data "
        "directory."
    )
    assert list(path.iterdir()) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (sqlite3.SQLITE_FULL, NotPossible),
        (sqlite3.SQLITE_CORRUPT, CatalogDamaged),
        (sqlite3.SQLITE_CORRUPT_INDEX, CatalogDamaged),
        (sqlite3.SQLITE_NOTADB, CatalogDamaged),
        (sqlite3.SQLITE_IOERR_READ, CatalogUnusable),
    ],
)
def test_errors_are_distinguished_by_their_code(
    code: int, expected: type[SkilldropError], tmp_path: Path
) -> None:
    """The text of an error may contain any word, such as `full` in a path."""
    error = sqlite3.OperationalError("a full and malformed sentence")
    error.sqlite_errorcode = code
    with pytest.raises(SkilldropError) as raised, explained(tmp_path / "catalog.db"):
        raise error
    assert type(raised.value) is expected


def test_damage_is_reported_by_its_page_without_messages_of_sqlite(tmp_path: Path) -> None:
    """Functions and codes of SQLite do not help a user."""
    path = tmp_path / "catalog.db"
    open_to_write(path)
    with path.open("r+b") as file:
        file.seek(4 * PAGE)
        file.write(bytes(PAGE))
    message = r"catalog\.db is damaged on page 5\.$"
    with closing(sqlite3.connect(path)) as db, pytest.raises(CatalogDamaged, match=message):
        check_pages(db, path)


def test_changing_many_rows_makes_no_file_for_its_undo(tmp_path: Path) -> None:
    """It would lie in /var/tmp, and each sync would write it to the disk."""
    with closing(database_connection.connect(tmp_path / "catalog.db")) as db:
        db.execute("CREATE TABLE words (word TEXT UNIQUE)")
        db.executemany("INSERT INTO words VALUES (?)", [(f"{n} {'x' * 500}",) for n in range(900)])
        db.execute("BEGIN")
        db.execute("UPDATE words SET word = word || 'y'")
        opened = [
            os.readlink(link) for link in Path("/proc/self/fd").glob("*") if link.is_symlink()
        ]
        assert not [path for path in opened if "etilqs" in path]


def test_a_reader_maps_no_page(tmp_path: Path) -> None:
    """If a program cut the file, as `cp` of a backup does, the system would end the reader."""
    open_to_write(tmp_path / "catalog.db")
    with closing(connect_to_read(tmp_path / "catalog.db")) as reader:
        assert reader.execute("PRAGMA mmap_size").fetchone() == (0,)
