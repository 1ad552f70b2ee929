"""No query that the product runs goes through a whole table where an index should serve.

Every statement is caught as SQLite gets it, from the real flows on a real catalog, and SQLite is
asked how it would go about it.
"""

import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import SkillWriter

from catalog import index_query, search
from pipeline.config import Settings, load
from pipeline.one_pass import scan_once, unit_at
from pipeline.opening import open_store

LARGE = {"skills", "versions", "files", "findings", "ingestions", "skill_text", "outcomes",
         "memory_writes", "step_traces", "index_entries", "index_builds", "index_texts", "scans"}
"""Tables that grow with the skills there are, or with time."""

MEANT = {
    "GROUP BY status": "counts of all skills by status, from an index alone",
    "SELECT severity, count(*)": "counts of all findings, for the status",
    "SELECT DISTINCT s.skill_id FROM skills AS s": "every skill is compared with its package",
    "FROM versions WHERE package_path IS NOT NULL": "so is every package",
    "UPDATE versions SET package_path = NULL, retired_at": "packages that the disk has no more",
    "WITH kept AS": "the collection of packages weighs all of them, now and then",
    "SELECT 1 FROM versions LIMIT 1": "stops at the first row",
    "FROM outcomes WHERE is_newest = 1": "a full look at the folder of outcomes compares them all",
}
"""What goes through a whole table because it is about all of it, by words in it; and why."""


class Statement(NamedTuple):
    """One statement as SQLite got it."""

    flow: str
    sql: str


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], list[Statement]]]:
    """Let every connection tell its statements; return what names the flow they belong to."""
    caught: list[Statement] = []
    flow = ["set-up"]
    connect = sqlite3.connect

    def telling(*given: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(*given, **named)
        connection.set_trace_callback(lambda sql: caught.append(Statement(flow[0], sql)))
        return connection

    def begin(name: str) -> list[Statement]:
        flow[0] = name
        return caught

    monkeypatch.setattr(sqlite3, "connect", telling)
    return begin


@pytest.fixture
def settings(tmp_path: Path, skill: SkillWriter) -> Settings:
    """Return settings with a root of some skills."""
    for number in range(60):
        skill(tmp_path / "root" / f"skill-{number}", description=f"Counts words, {number}.")
    skill(tmp_path / "root" / "broken", files={"SKILL.md": "nothing"})
    return load(None, tmp_path / "root", tmp_path / "data").model_copy(
        update={"settle_quiet": 0.0})


def full_scans(db: sqlite3.Connection, statement: Statement) -> Iterator[str]:
    """Yield the steps of a statement's plan that go through a whole large table."""
    aliases = dict(re.findall(r"(?:FROM|JOIN)\s+(\w+)\s+AS\s+(\w+)", statement.sql, re.IGNORECASE))
    tables = {alias: table for table, alias in aliases.items()}
    try:
        plan = db.execute(f"EXPLAIN QUERY PLAN {statement.sql}").fetchall()
    except sqlite3.Error as error:
        raise AssertionError(f"{statement.sql}: {error}") from error
    for _, _, _, step in plan:
        if found := re.match(r"SCAN (\w+)", step):
            table = tables.get(found[1], found[1])
            if table in LARGE:
                yield step


def test_no_flow_goes_through_a_whole_table_where_an_index_should_serve(
    settings: Settings, skill: SkillWriter, traced: Callable[[str], list[Statement]]
) -> None:
    """Scans, one change, a removal, the index, search and status."""
    caught = traced("a first scan")
    store = open_store(settings)
    scan_once(settings, store)
    traced("an unchanged re-scan")
    scan_once(settings, store)
    traced("one change")
    changed = skill(settings.watched / "skill-7", description="Counts letters.")
    unit = unit_at(settings, changed)
    assert unit
    scan_once(settings, store, [unit])
    traced("search")
    reader = search.open_catalog(settings.catalog_path)
    assert search.find(reader, "letters")
    traced("status")
    search.status(reader)
    traced("index")
    index_query.build_index(reader, index_query.index_spec(reader, "default"))
    plain = sqlite3.connect(settings.catalog_path)
    plain.create_function("has_package", 1, lambda _: True)  # asks the disk, for the mending
    wrong = set()
    for statement in caught:
        if re.match(r"\s*(SELECT|WITH|UPDATE|DELETE|INSERT|REPLACE)\b", statement.sql, re.I):
            if statement.flow == "set-up" or any(words in statement.sql for words in MEANT):
                continue
            for step in full_scans(plain, statement):
                wrong.add((statement.flow, step, " ".join(statement.sql.split())[:300]))
    assert not wrong, "\n".join(map(str, sorted(wrong)))
