"""Sums of reads for the pages."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest

from catalog.database.queries import Database
from catalog.usage import database, summary
from catalog.usage.database import SkillRead
from catalog.usage.summary import SkillReads

TODAY = date(2026, 11, 22)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    """Return an empty catalog with a database of reads."""
    database.prepare(tmp_path / "usage.db")
    with closing(sqlite3.connect(f"{tmp_path.as_uri()}/catalog.db", uri=True)) as connection:
        database.attach(connection, tmp_path / "catalog.db")
        yield Database(connection)


def test_a_skill_has_its_reads_of_thirty_days_and_the_last_of_all(
    db: Database, tmp_path: Path
) -> None:
    """The present day is one of them."""
    counts: dict[SkillRead, int] = {
        SkillRead("pdf", "v3", "http", "2026-11-22"): 4,
        SkillRead("pdf", "v2", "mcp", "2026-10-24"): 2,
        SkillRead("pdf", "v1", "mcp", "2026-10-23"): 1,
        SkillRead("old", "v1", "http", "2026-10-23"): 1,
    }
    database.add(tmp_path / "usage.db", counts, TODAY)
    assert summary.of_skill(db, "pdf", TODAY) == SkillReads(6, 2, "2026-11-22")
    assert summary.of_skill(db, "old", TODAY) == SkillReads(0, 0, "2026-10-23")
    assert summary.of_skill(db, "new", TODAY) == SkillReads(0, 0, None)


def test_nothing_is_said_where_nothing_is_counted() -> None:
    """None differs from no reads."""
    db = Database(sqlite3.connect(":memory:"))
    assert summary.of_skill(db, "pdf", TODAY) is None


def test_a_damaged_database_of_reads_breaks_no_page(db: Database, tmp_path: Path) -> None:
    """The catalog is well."""
    with (tmp_path / "usage.db").open("r+b") as file:
        file.seek(200)
        file.write(b"\xff" * 20_000)
    assert summary.of_skill(db, "pdf", TODAY) is None
