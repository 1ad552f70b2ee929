"""The database of reads: concurrent writers, retention, bounds and foreign files."""

import multiprocessing
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from catalog.model.errors import CatalogUnusable
from catalog.usage import database
from catalog.usage.database import SkillRead
from tests.support.paths import REPOSITORY

DAY = date(2026, 11, 22)
READ = SkillRead("pdf", "v1", "http", "2026-11-22")
WRITER = """
import sys
from datetime import date
from pathlib import Path
from catalog.usage import database
from catalog.usage.database import SkillRead

database.BUSY_SECONDS = 60  # a slow machine loses nothing here
read = SkillRead("pdf", "v1", "mcp", "2026-11-22")
for _ in range(40):
    database.add(Path(sys.argv[1]), {read: 2}, date(2026, 11, 22))
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a database of reads, which does not exist."""
    return database.path_of(tmp_path / "catalog.db")


def rows(path: Path, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query."""
    with closing(sqlite3.connect(path)) as db:
        return db.execute(sql).fetchall()


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """Return a read-only connection to an empty catalog."""
    file = tmp_path / "catalog.db"
    sqlite3.connect(file).close()
    with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as db:
        yield db


def test_processes_that_start_at_once_lose_no_count(path: Path) -> None:
    """The site, MCP servers and commands write the same file, and the first one makes it."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, path], cwd=REPOSITORY) for _ in range(3)
    ]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert rows(path, "SELECT * FROM reads") == [("pdf", "v1", "mcp", "2026-11-22", 240)]


def test_a_file_that_several_make_at_once_is_never_locked(tmp_path: Path) -> None:
    """SQLite refuses at once to start the log while another process makes the tables."""
    processes, files = multiprocessing.get_context("fork"), range(30)
    start = processes.Barrier(8)

    def count() -> None:
        for number in files:
            start.wait(60)
            database.add(tmp_path / f"{number}.db", {READ: 1}, DAY)

    writers = [processes.Process(target=count) for _ in range(8)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert {writer.exitcode for writer in writers} == {0}
    assert {rows(tmp_path / f"{number}.db", "SELECT reads FROM reads")[0] for number in files} == {
        (8,)
    }


def test_versions_are_counted_apart(path: Path) -> None:
    """Counts of one version are added up."""
    database.add(path, {READ: 3}, DAY)
    database.add(path, {READ: 1, READ._replace(version="v2"): 1}, DAY)
    assert rows(path, "SELECT version, reads FROM reads ORDER BY version") == [("v1", 4), ("v2", 1)]


def test_old_days_are_deleted(path: Path) -> None:
    """So the database stays small."""
    old = READ._replace(day="2025-10-17")
    kept = READ._replace(day="2025-10-18")
    database.add(path, {old: 1, kept: 1}, DAY)
    assert rows(path, "SELECT day FROM reads") == [("2025-10-18",)]


def test_a_database_of_another_program_is_left_as_it_is(path: Path) -> None:
    """It may lie there by chance."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE theirs (a)")
        db.execute("PRAGMA user_version = 1")
    before = path.read_bytes()
    with pytest.raises(CatalogUnusable, match="another program"):
        database.add(path, {READ: 1}, DAY)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [1, 99])
def test_a_database_of_another_release_is_refused(path: Path, version: int) -> None:
    """Its tables may mean something else."""
    database.prepare(path)
    with closing(sqlite3.connect(path)) as db:
        db.execute(f"PRAGMA user_version = {version}")
    with pytest.raises(CatalogUnusable, match="another version"):
        database.add(path, {READ: 1}, DAY)


def test_readers_of_the_catalog_see_new_counts_and_cannot_change_them(
    path: Path, reader: sqlite3.Connection, tmp_path: Path
) -> None:
    """Also after the last writer has closed the file."""
    database.prepare(path)
    database.attach(reader, tmp_path / "catalog.db")
    for reads in (1, 2):
        database.add(path, {READ: 1}, DAY)
        assert reader.execute("SELECT reads FROM usage.reads").fetchall() == [(reads,)]
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM usage.reads")


def test_a_second_reader_in_a_process_leaves_the_locks_of_the_first(
    path: Path, reader: sqlite3.Connection, tmp_path: Path
) -> None:
    """Closing a file drops all locks of a process on it; the log would be deleted under them."""
    database.add(path, {READ: 1}, DAY)
    database.attach(reader, tmp_path / "catalog.db")
    assert reader.execute("SELECT reads FROM usage.reads").fetchall() == [(1,)]
    with closing(sqlite3.connect(f"{tmp_path.as_uri()}/catalog.db?mode=ro", uri=True)) as second:
        database.attach(second, tmp_path / "catalog.db")
    for reads in (81, 161):
        subprocess.run([sys.executable, "-c", WRITER, path], cwd=REPOSITORY, check=True)
        assert reader.execute("SELECT sum(reads) FROM usage.reads").fetchall() == [(reads,)]


@pytest.mark.parametrize("content", [None, b"", b"no database" * 100])
def test_without_a_database_of_reads_none_is_attached(
    path: Path, reader: sqlite3.Connection, tmp_path: Path, content: bytes | None
) -> None:
    """A file that is missing, empty or damaged does not keep the catalog from being read."""
    if content is not None:
        path.write_bytes(content)
    database.attach(reader, tmp_path / "catalog.db")
    assert not database.is_attached(reader)
