"""Counts in memory, and their way into the database."""

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from catalog.usage import database
from catalog.usage import database as usage_counter
from catalog.usage.database import ReadCounter


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return the path of a database of reads."""
    path = tmp_path / "usage.db"
    database.prepare(path)
    return path


@pytest.fixture
def counter(path: Path) -> Iterator[ReadCounter]:
    """Return a counter on one day."""
    counter = ReadCounter(path, lambda: date(2026, 11, 22))
    yield counter
    counter.close()


def rows(path: Path) -> list[tuple[Any, ...]]:
    """Return all counts of skills."""
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT skill_id, version, route, day, reads FROM reads").fetchall()


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep a database locked, as a stopped writer does."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("BEGIN IMMEDIATE")
        yield


def test_reads_are_written_at_the_end(path: Path, counter: ReadCounter) -> None:
    """A server that stops loses none, and counts none after."""
    for _ in range(3):
        counter.count_skill("pdf", "v1", "mcp")
    counter.close()
    assert rows(path) == [("pdf", "v1", "mcp", "2026-11-22", 3)]
    counter.count_skill("pdf", "v1", "mcp")
    counter.write()
    assert rows(path) == [("pdf", "v1", "mcp", "2026-11-22", 3)]


def test_a_counter_writes_by_itself(
    path: Path, counter: ReadCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crash loses a few seconds."""
    written = []
    monkeypatch.setattr(usage_counter, "EVERY", 0.01)
    monkeypatch.setattr(
        counter._closed, "wait", lambda _: bool(written.append(1)) or len(written) > 2
    )
    counter.count_skill("pdf", "v1", "mcp")
    assert counter._thread
    counter._thread.join()
    assert len(rows(path)) == 1


def test_counts_wait_for_a_locked_database_with_one_line(
    path: Path,
    counter: ReadCounter,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing is lost by another process that is slow, and the log stays short."""
    monkeypatch.setattr(database, "BUSY_SECONDS", 0)
    with locked(path):
        for _ in range(3):
            counter.count_skill("pdf", "v1", "http")
            counter.write()
    assert [record.message for record in caplog.records] == [
        f"Reads are not counted now: {path}: database is locked"
    ]
    counter.write()
    assert rows(path) == [("pdf", "v1", "http", "2026-11-22", 3)]
    with locked(path):
        counter.count_skill("pdf", "v1", "http")
        counter.write()
    assert len(caplog.records) == 2


def test_the_memory_for_counts_is_bounded(
    path: Path, counter: ReadCounter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that never can be written does not fill the memory."""
    monkeypatch.setattr(usage_counter, "MOST", 2)
    for number in (1, 2, 3, 1):
        counter.count_skill(f"skill-{number}", "v1", "http")
    counter.write()
    assert [(row[0], row[4]) for row in rows(path)] == [("skill-1", 2), ("skill-2", 1)]


def test_a_read_is_counted_on_its_own_day(path: Path) -> None:
    """One at midnight belongs to the day before, even if it is written after."""
    days = iter([date(2026, 11, 22), date(2026, 11, 23), date(2026, 11, 23)])
    counter = ReadCounter(path, lambda: next(days))
    counter.count_skill("pdf", "v1", "http")
    counter.count_skill("pdf", "v1", "http")
    counter.write()
    assert [(row[3], row[4]) for row in rows(path)] == [("2026-11-22", 1), ("2026-11-23", 1)]


def test_the_end_of_a_server_closes_the_counter(path: Path, counter: ReadCounter) -> None:
    """The end of the process by a signal would lose the last seconds."""
    sent: list[str] = []

    async def server(scope: Any, receive: Any, send: Any) -> None:
        counter.count_skill("pdf", "v1", "http")
        await send({"type": "lifespan.shutdown.complete"})

    async def send(message: Any) -> None:
        sent.append(message["type"])

    async def run() -> None:
        await usage_counter.closing_with(server, counter)({"type": "lifespan"}, None, send)

    asyncio.run(run())
    assert sent == ["lifespan.shutdown.complete"]
    assert len(rows(path)) == 1
