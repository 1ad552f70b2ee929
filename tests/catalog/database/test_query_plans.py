"""No query that the product runs goes through a whole table where an index should serve.

Every statement is caught as SQLite gets it, from the real flows on a real catalog, and SQLite is
asked how it would go about it.
"""

import re
import sqlite3
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from mcp.types import PaginatedRequestParams

from catalog.database import connection as database_connection
from catalog.mcp.access import CatalogAccess
from catalog.mcp.skills_extension import SkillsExtension
from catalog.mcp.tools import SkillTools
from catalog.prompt_index import history as prompt_index_history
from catalog.prompt_index import query
from catalog.reading import index_views
from catalog.reading import status as reading_status
from catalog.reading.files import skill_files
from catalog.reading.files.published import package_of
from catalog.reading.search import word_search
from catalog.reading.skills import review
from catalog.reading.skills import versions as reading_versions
from catalog.site.server.app import metadata_path
from catalog.usage import database as usage_database
from catalog.writing.store import Store
from pipeline.config.loader import load
from pipeline.config.root_settings import RootSettings
from pipeline.config.settings import Settings
from pipeline.service import loop as service_loop
from pipeline.service import reconcile
from pipeline.service.open_catalog import open_store, publish, with_store
from pipeline.service.requests import handle
from pipeline.service.run_once import scan_once
from tests.pipeline.outcomes.test_collect import drop
from tests.support.scanning import scan_units
from tests.support.serving import Serving
from tests.support.sites import Site
from tests.support.skills import SkillWriter

LARGE = {
    "skills",
    "versions",
    "files",
    "findings",
    "ingestions",
    "skill_text",
    "texts",
    "outcomes",
    "memory_writes",
    "step_traces",
    "index_entries",
    "index_builds",
    "index_texts",
    "scans",
    "requests",
    "outcome_rejections",
    "apexbridge_skills",
    "reads",
    "skill_references",
}
"""Tables that grow with the skills there are, or with time."""

MEANT = {
    "GROUP BY status": "counts of all skills by status, from an index alone",
    "INDEXED BY skills_in_index_order WHERE": "so are those of an index",
    "count(*) FROM skills AS s INDEXED BY skills_in_index_order": "also with a filter",
    "INDEXED BY skills_by_level": "the number of all skills, from the smallest index",
    "SELECT severity, count(*)": "counts of all findings, for the status",
    "SELECT DISTINCT s.skill_id FROM skills AS s": "every skill is compared with its package",
    "FROM versions WHERE package_path IS NOT NULL": "so is every package",
    "UPDATE versions SET package_path = NULL, retired_at": "packages that the disk has no more",
    "SELECT 1 FROM versions LIMIT 1": "stops at the first row",
    "FROM roots AS r CROSS JOIN skills AS s": "a comparison looks for skills of no root at all",
    "LEFT JOIN skill_text AS t ON t.id = s.id)": "it compares every skill with its text …",
    "OR s.package_path IS NOT NULL": "… and with its version",
    "FROM skills INDEXED BY skills_by_source": "sources are counted from an index alone",
    "GROUP BY skill HAVING": "which skills have much history is counted from an index alone",
    "SELECT skill FROM skill_references": "a comparison looks at every reference between skills",
    "SELECT 1 FROM skill_references LIMIT 1": "stops at the first row",
    "count(DISTINCT skill)": "all kinds of findings are counted, from an index alone",
    "SELECT count(*) FROM skills AS s WHERE ('": "the list of skills says how many it has",
    "iif(s.has_scripts, 'yes', 'no')": "filters count all skills, once after a change …",
    "json_each(s.tags) AS each UNION ALL": "… with their tags, tools and hosts …",
    "FROM findings INDEXED BY findings_of_safety": "… from an index that holds no other findings",
}
"""Queries that read a whole table on purpose, by words in them, each with the reason."""

OF_EVERYTHING = {
    "why_not_in_the_index": {"skills"},  # what is typed may stand anywhere in a name or a path
    "my_findings": {"findings"},  # so it may there
    "same_description": {"skills"},  # compares all
    "triggered_by": {"apexbridge_skills"},  # and there
    "memory_by_owner": {"memory_writes"},  # those of all owners, where none is typed
    "failures_by_skill": {"outcomes"},  # counts the runs of each
    "what_changed": {"index_builds"},  # of which few are kept
    "read_most": {"reads"},  # adds up all; the reads of a month through an index take longer
    "read_though_superseded": {"versions"},  # those superseded, by an index that holds no others
    "slowest_steps": {"step_traces"},  # slowest first, until there are enough of one skill
}
"""The canned queries that go through a whole large table, through which, and why."""

OF_WHAT_WAITS = {
    "requests_waiting",
    "requests_unbegun",
    "outcomes_without_skill",
    "outcomes_without_version",
}
"""Indexes that hold only what waits, which is next to nothing."""

TESTS_OWN = {"tests.support.serving", __name__}


class Statement(NamedTuple):
    """One statement as SQLite got it."""

    flow: str
    sql: str


Begin = Callable[[str], list[Statement]]


@pytest.fixture
def traced(monkeypatch: pytest.MonkeyPatch) -> Begin:
    """Let every connection to a catalog tell its statements; return what names their flow."""
    caught: list[Statement] = []
    flow = ["set-up"]
    connect = sqlite3.connect

    def telling(path: Any, *given: Any, **named: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(path, *given, **named)
        if "catalog.db" in str(path) and sys._getframe(1).f_globals["__name__"] not in TESTS_OWN:
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
    skill(tmp_path / "root/user", more="depends_on: skill-7", body="[x](../skill-8/SKILL.md)\n")
    skill(tmp_path / "root" / "broken", files={"SKILL.md": "nothing"})
    return load(None, tmp_path / "root", tmp_path / "data").model_copy(update={"settle_quiet": 0.0})


def refuse_full_scans(caught: list[Statement], catalog: Path) -> None:
    """Fail with every statement that goes through a whole large table unasked."""
    plain = sqlite3.connect(catalog)
    plain.create_function("has_package", 1, lambda _: True)  # asks the disk, for the mending
    usage_database.attach(plain, catalog)
    wrong = set()
    for statement in set(caught):
        sql = " ".join(statement.sql.split())
        is_asked = re.match(r"(SELECT|WITH|UPDATE|DELETE|INSERT|REPLACE)\b", sql, re.IGNORECASE)
        if is_asked and not any(words in sql for words in MEANT):
            wrong |= {(statement.flow, table, sql[:300]) for table in full_scans(plain, sql)}
    plain.close()
    assert caught
    assert not wrong, "\n".join(map(str, sorted(wrong)))


def full_scans(db: sqlite3.Connection, sql: str, *, limited: bool = True) -> Iterator[str]:
    """Yield the large tables that a statement goes through as a whole.

    To walk in the order that is asked for, up to a limit, is not that, if it is soon reached.
    """
    named = re.findall(r"(?:FROM|JOIN)\s+(?:usage\.)?(\w+)\s+AS\s+(\w+)", sql, re.IGNORECASE)
    tables = {alias: table for table, alias in named}
    try:
        plan = db.execute(f"EXPLAIN QUERY PLAN {sql}").fetchall()
    except sqlite3.Error as error:
        raise AssertionError(f"{sql}: {error}") from error
    steps = [step for *_, step in plan]
    if limited and "LIMIT" in sql and not any("TEMP B-TREE" in step for step in steps):
        return
    for step in steps:
        if found := re.match(r"SCAN (\w+)(?: USING (?:COVERING )?INDEX (\w+))?", step):
            table = tables.get(found[1], found[1])
            if table in LARGE and found[2] not in OF_WHAT_WAITS:
                yield table


def test_no_scan_goes_through_a_whole_table(
    settings: Settings, skill: SkillWriter, traced: Begin
) -> None:
    """A first scan, an unchanged one, a deep one, one change, and the comparison with all."""
    caught = traced("a first scan")
    store = open_store(settings)
    scan_once(settings, store)
    traced("an unchanged re-scan")
    scan_once(settings, store)
    traced("a deep scan")
    scan_once(settings, store, deep=True)
    traced("one change")
    changed = skill(settings.watched / "skill-7", description="Counts letters.")
    scan_units(store, settings.root_specs, changed.name)
    publish(settings, store, datetime.now(UTC))
    store.close()
    traced("a start")
    open_store(settings).close()
    traced("a comparison")
    assert not reconcile.compare(settings).differences
    traced("mending")
    reconcile.repair(settings)
    refuse_full_scans(caught, settings.catalog_path)


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    """Return a service, which is stopped in the end."""
    made = Serving(tmp_path, retention={"index_builds": 1})
    yield made
    made.stop()


def change_and_remove(serving: Serving, skill: SkillWriter) -> None:
    """Change a skill, rename it, and remove another."""
    changed = skill(serving.root / "skill-7", description="Counts letters.")
    serving.settle()
    changed.rename(serving.root / "renamed")
    (serving.root / "skill-8/SKILL.md").unlink()
    serving.settle()


def request_pin(serving: Serving) -> None:
    """Request a pin and its end."""
    versions = serving.rows(
        "SELECT version FROM versions AS v JOIN skills AS s ON s.id = v.skill"
        " WHERE s.path = 'renamed' ORDER BY v.id"
    )
    handle(serving.settings, "pin", {"skill": "skill-7", "version": versions[0][0]})
    handle(serving.settings, "unpin", {"skill": "skill-7"})


def drop_outcomes(serving: Serving) -> None:
    """Drop a valid and an invalid outcome, and wait until both are stored."""
    serving.settings.outcomes_folder.mkdir(exist_ok=True)
    drop(serving.settings.outcomes_folder, skill_id="skill-7")
    drop(serving.settings.outcomes_folder, skill_id="skill-7", run="bad", status=7)
    serving.wait_for(
        lambda: (
            serving.rows("SELECT 1 FROM outcomes")
            and serving.rows("SELECT 1 FROM outcome_rejections")
        )
    )


def test_no_tick_of_the_service_goes_through_a_whole_table(
    serving: Serving, skill: SkillWriter, traced: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Changes, removals, requests, outcomes, collections and heartbeats."""
    monkeypatch.setattr(service_loop, "COLLECT_EVERY", 0.1)
    caught = traced("the service's start")
    for number in range(30):
        skill(serving.root / f"skill-{number}", description=f"Counts words, {number}.")
    serving.start()
    serving.settle()
    traced("changes and removals")
    change_and_remove(serving, skill)
    traced("a re-scan")
    serving.rescan()
    traced("requests")
    request_pin(serving)
    traced("outcomes")
    drop_outcomes(serving)
    traced("a collection")
    serving.wait_for(lambda: any("SET retired_at" in each.sql for each in caught))
    serving.settle()
    serving.stop()
    refuse_full_scans(caught, serving.settings.catalog_path)


def test_no_reader_goes_through_a_whole_table(settings: Settings, traced: Begin) -> None:
    """Searches, files, versions, indexes with their past and reasons, status and MCP tools."""
    store = open_store(settings)
    scan_once(settings, store)
    store.close()
    caught = traced("search")
    caught.clear()
    db = database_connection.open_catalog(settings.catalog_path)
    assert word_search.search(db, "words").hits
    traced("status")
    reading_status.load(db)
    database_connection.service_runs(settings.catalog_path)
    traced("an index")
    spec = query.index_spec(db, "default")
    built = query.build_index(db, spec)
    prompt_index_history.explain(db, spec, built)
    assert index_views.build(db, "default", None)
    traced("a file")
    assert skill_files.read(package_of(db, settings.packages_folder, "skill-7"))
    traced("versions")
    reading_versions.history(db, "skill-7")
    traced("agents")
    access = CatalogAccess(settings.catalog_path, settings.packages_folder)
    tools, extension = SkillTools(access), SkillsExtension(access)
    assert not tools.search_skills("words").is_error
    assert not tools.search_skills("", 10, 10).is_error
    assert not tools.read_skill_file("skill-7").is_error
    assert extension.skill("skill://skill-7/SKILL.md")["skill"]["resources"]
    assert extension.page(None)["skills"]
    assert access.page("prompts", "user", PaginatedRequestParams(cursor="prompts-7"))[0]
    refuse_full_scans(caught, settings.catalog_path)


def test_no_review_goes_through_a_whole_table(settings: Settings, traced: Begin) -> None:
    """From the scan that lets versions wait to the decision."""
    roots = (RootSettings(path=settings.watched, review="always"),)
    reviewed = settings.model_copy(update={"roots": roots})
    caught = traced("a scan under review")
    with_store(reviewed, lambda store: scan_once(reviewed, store))
    traced("a decision")
    skill_md = settings.watched / "skill-7/SKILL.md"
    for text in (skill_md.read_text(), skill_md.read_text() + "More.\n"):
        skill_md.write_text(text)
        with_store(reviewed, lambda store: scan_once(reviewed, store))
        asked = {"skill": "skill-7", "version": None}
        handle(reviewed, "review", asked | {"decision": "approved", "by": "ana", "why": None})
    traced("a list")
    assert len(review.waiting(database_connection.open_catalog(settings.catalog_path))) == 60
    refuse_full_scans(caught, settings.catalog_path)


PAGES = {
    "/": 200,
    "/skills": 200,
    "/skills?q=words": 200,
    "/skills?level=project&page=2": 200,
    "/skills?q=words&license=MIT&status=all": 200,
    "/skills/skill-7": 200,
    "/skills/skill-7/view/SKILL.md": 200,
    "/skills/skill-7/versions": 200,
    "/skills/skill-99": 404,
    "/findings": 200,
    "/findings/frontmatter-missing": 200,
    "/indexes": 200,
    "/indexes/default": 200,
    "/indexes/default?show=shortened&q=words": 200,
    "/indexes/default/text": 200,
    "/indexes/default/text?build=1": 200,
    "/indexes/default/history": 200,
    "/questions": 200,
    "/usage": 200,
    "/health": 200,
    "/review": 200,
    "/skills/skill-7/similar": 200,
    "/activity": 200,
    "/activity?before=50": 200,
    "/activity?scan=1": 200,
    "/activity.atom": 200,
    "/activity.atom?source=root": 200,
    "/activity?since=7d": 200,
    "/sources": 200,
    "/sources/root": 200,
    "/activity.atom?skill=skill-7": 200,
    "/search.json?q=words": 200,
    "/skills/skill-7/preview": 200,
    "/skills/skill-7/files/SKILL.md": 200,
    "/index/default.txt": 200,
    "/index/default.meta.json": 200,
    "/.well-known/agent-skills/index.json": 200,
    "/-/healthz": 200,
    "/-/metrics": 200,
}


def test_no_page_goes_through_a_whole_table(
    settings: Settings, traced: Begin, serve: Callable[[Path], Site]
) -> None:
    """Those for people and those for programs."""
    store = open_store(settings)
    scan_once(settings, store)
    store.close()
    site = serve(settings.catalog_path)
    caught = traced("")
    caught.clear()
    for page, status in PAGES.items():
        traced(page)
        assert (page, site.get(page).status_code) == (page, status)
    refuse_full_scans(caught, settings.catalog_path)


CANNED = yaml.safe_load(metadata_path().read_text("utf-8"))["databases"]["catalog"]["queries"]


@pytest.mark.parametrize("name", CANNED)
def test_no_canned_query_goes_through_a_whole_table_but_those_meant_to(
    name: str, tmp_path: Path
) -> None:
    """Some are about everything there is, and say so."""
    store = Store.open(tmp_path / "catalog.db")
    usage_database.prepare(usage_database.path_of(tmp_path / "catalog.db"))
    usage_database.attach(store.db.conn, tmp_path / "catalog.db")
    sql = CANNED[name]["sql"]
    for parameter in CANNED[name].get("params", ()):
        sql = sql.replace(f":{parameter}", "'x'")
    scanned = set(full_scans(store.db.conn, sql, limited=False))
    store.close()
    assert scanned == OF_EVERYTHING.get(name, set())


def test_no_new_row_lets_sqlite_look_for_its_users_in_a_whole_table(tmp_path: Path) -> None:
    """SQLite does so for each row, while another one refers to a row that is yet to come."""
    store = Store.open(tmp_path / "catalog.db")
    keys = store.db.execute("""
        SELECT t.name, k."from" FROM pragma_table_list AS t, pragma_foreign_key_list(t.name) AS k
        WHERE k."table" IN ('skills', 'versions', 'texts', 'scans', 'outcomes')""").fetchall()
    scanned = {
        (table, column)
        for table, column in keys
        if [*full_scans(store.db.conn, f"SELECT 1 FROM {table} WHERE {column} = 1")]
    }
    store.close()
    assert ("skills", "shadowed_by") in keys
    assert not scanned


def test_what_changed_last_costs_the_same_however_much_did(tmp_path: Path) -> None:
    """As after a first scan: a page of it is read, and not all that is younger than a week."""
    store = Store.open(tmp_path / "catalog.db")
    costs = []
    for _ in range(4):
        store.db.execute("""
            WITH RECURSIVE numbers (n) AS
                (VALUES (1) UNION ALL SELECT n + 1 FROM numbers LIMIT 2000)
            INSERT INTO ingestions (root, path, "trigger", outcome, started_at, took_ms)
            SELECT '/root', n, 'start', 'added', strftime('%Y-%m-%dT%H:%M:%S', 'now'), 1
            FROM numbers""")
        costs.append(steps_of(store.db.conn, CANNED["what_changed"]["sql"], {"days": ""}))
    store.close()
    assert costs[-1] < 1.2 * costs[0]


def steps_of(db: sqlite3.Connection, sql: str, values: dict[str, str]) -> int:
    """Return how often SQLite took ten steps for a statement."""
    taken: list[None] = []
    db.set_progress_handler(lambda: taken.append(None), 10)
    db.execute(sql, values).fetchall()
    db.set_progress_handler(None, 0)
    return len(taken)
