"""Catalogs of all migrations: each is opened by the present program, with all that it has."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from catalog.database.connection import MIGRATIONS
from catalog.writing.store import Store
from tests.support.older_catalogs import SAMPLES, rows, run, unpacked

HOW = (
    "After the first release, a change of the tables is a new migration. Before it, rename the "
    "first one. Then `python -m tests.support.older_catalogs` makes its sample."
)


def schema(catalog: Path) -> dict[str, str]:
    """Return the definitions of a catalog by name."""
    with closing(sqlite3.connect(catalog)) as db:
        named = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"
        return dict(db.execute(named).fetchall())


@pytest.mark.parametrize("migration", MIGRATIONS)
def test_a_catalog_of_a_migration_is_upgraded_to_the_present_schema(
    migration: str, tmp_path: Path
) -> None:
    """It keeps all rows; a changed table without a migration of its own is found here."""
    assert (SAMPLES / f"{migration}.tgz").exists(), HOW
    catalog = unpacked(migration, tmp_path)
    before = rows(catalog)
    Store.open(catalog).close()
    after = rows(catalog)
    for table, former in before.items():
        if not table.startswith("_sqlite"):
            assert [
                {column: row[column] for column in was.keys() & row.keys()}
                for was, row in zip(former, after[table], strict=True)
            ] == former, HOW
    Store.open(tmp_path / "new.db").close()
    assert schema(catalog) == schema(tmp_path / "new.db"), HOW


@pytest.mark.parametrize("migration", MIGRATIONS)
def test_the_skills_and_decisions_of_an_older_catalog_are_all_there(
    migration: str, tmp_path: Path
) -> None:
    """A scan adds no version and repairs nothing, and what people decided is still in force."""
    catalog = unpacked(migration, tmp_path)
    before = [row["id"] for row in rows(catalog)["versions"]]
    run(tmp_path, "scan")
    assert [row["id"] for row in rows(catalog)["versions"]] == before
    assert "; no differences." in run(tmp_path, "reconcile", "--check").stdout
    status = json.loads(run(tmp_path, "status", "--json").stdout)
    assert status["recoveries"] == []
    assert [row["path"] for row in status["awaits_review"]] == ["waiting"]
    assert [row["path"] for row in status["version_pinned"]] == ["csv-profile"]
    assert [row["path"] for row in status["shadowed"]] == ["one/same"]
    assert status["conflicts"] == []
    assert [row["skill_id"] for row in rows(catalog)["outcomes"]] == ["same"]
    (agent,) = (row for row in status["links"] if row["path"] == f"{tmp_path}/agent")
    assert agent["linked"] > 5
    assert not agent["taken"]
    assert "rejected in review: It gives orders." in run(tmp_path, "versions", "refused").stdout
    assert "approved" in run(tmp_path, "search", "approved").stdout
    assert run(tmp_path, "restore", "removed").returncode == 0
