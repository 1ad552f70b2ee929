"""The catalog as a web site: real Datasette, in this process for pages and as the real child."""

import os
import re
import select
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import pytest
from datasette.utils import parse_metadata
from records import NOON, ROOT, judged
from sites import Site, fill

from catalog.errors import CatalogUnusable, NotInCatalog, SiteUnavailable, SkilldropError
from catalog.site import address, process, server
from catalog.site.process import SiteProcess
from catalog.store import Store

REPOSITORY = Path(__file__).parents[1]
HIDDEN_BY_FTS = re.compile(r"skills_fts(_\w+)?")

LONG_AGO = "2020-01-01T00:00:00+00:00"


# What is said of the tables

METADATA: dict[str, Any] = parse_metadata(server.metadata_path().read_text("utf-8"))
TABLES: dict[str, dict[str, Any]] = METADATA["databases"]["catalog"]["tables"]
QUERIES: dict[str, dict[str, Any]] = METADATA["databases"]["catalog"]["queries"]
SHOWN = [table for table, about in TABLES.items() if not about.get("hidden")]


def columns_of(catalog: Path) -> dict[str, list[str]]:
    """Return the columns of every table and view."""
    db = sqlite3.connect(catalog)
    tables = [name for name, in db.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")]
    found = {table: [row[1] for row in db.execute(f'PRAGMA table_xinfo("{table}")')]
             for table in tables}
    db.close()
    return found


def test_every_table_is_described_and_there_is_no_other(catalog: Path) -> None:
    """A new table or view is described with its migration; what FTS5 keeps hides by itself."""
    there_are = {table for table in columns_of(catalog) if not HIDDEN_BY_FTS.fullmatch(table)}
    assert set(TABLES) == there_are
    assert [table for table in SHOWN if not (
        TABLES[table].get("title")
        and (TABLES[table].get("description") or TABLES[table].get("description_html")))] == []


@pytest.mark.parametrize("table", [table for table in TABLES if table != "_sqlite_migrations"])
def test_every_column_is_described_and_there_is_no_other(catalog: Path, table: str) -> None:
    """The descriptions stand in the order of the columns, and none is forgotten or left over."""
    assert list(TABLES[table]["columns"]) == columns_of(catalog)[table]


@pytest.mark.parametrize("table", TABLES)
def test_what_is_set_for_a_table_names_its_columns(catalog: Path, table: str) -> None:
    """Sort orders, facets, units and labels speak of columns that exist."""
    about = TABLES[table]
    named = [about.get("sort"), about.get("sort_desc"), about.get("label_column"),
             about.get("fts_pk"), *about.get("units", {}), *about.get("facets", []),
             *about.get("sortable_columns", [])]
    assert set(filter(None, named)) <= set(columns_of(catalog)[table])


def test_the_wheel_gets_the_file_where_it_is_looked_for() -> None:
    """It lies at the top of the repository, and in a wheel inside the package."""
    assert server.metadata_path() == REPOSITORY / "datasette-metadata.yml"
    build = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    assert build["targets"]["wheel"]["force-include"] == {
        "datasette-metadata.yml": "catalog/site/datasette-metadata.yml"}


def test_plain_datasette_understands_the_file(catalog: Path) -> None:
    """`datasette var/catalog.db -m datasette-metadata.yml` answers a canned query."""
    done = subprocess.run(
        [sys.executable, "-m", "datasette", str(catalog), "-m", str(server.metadata_path()),
         "--get", "/catalog/skills_with_tool.json?tool=Bash&_shape=arrayfirst"],
        capture_output=True, text=True, check=False,
    )
    assert done.stdout == '["secret", "word-count"]\n', done.stderr


# Pages

@pytest.mark.parametrize(
    "path", ["", "catalog", *(f"catalog/{name}" for name in (*SHOWN, *QUERIES))])
def test_every_page_answers(site: Site, path: str) -> None:
    """No table, view or query ends in an error, and no browser shows an old page for it."""
    response = site.get(f"/{path}")
    assert response.status_code == 200
    assert response.headers.get("cache-control", "no-cache") == "no-cache"


def test_every_link_of_the_descriptions_leads_somewhere(site: Site) -> None:
    """The ways into the catalog that are written by hand do not end in an error."""
    pages = {"/": METADATA, **{f"/catalog/{name}": about for name, about in TABLES.items()}}
    links = [urljoin(page, link.replace("&amp;", "&"))
             for page, about in pages.items()
             for link in re.findall(r'href="([^"]+)"', about.get("description_html", ""))]
    assert len(links) > 5
    assert {link: site.get(link).status_code for link in links} == dict.fromkeys(links, 200)


@pytest.mark.parametrize("table", [table for table in SHOWN if TABLES[table].get("facets")])
def test_configured_facets_are_there_and_no_others(site: Site, table: str) -> None:
    """They are counted, and others are not searched for by scanning every column."""
    page = site.get(f"/catalog/{table}.json").json()
    assert set(page["facet_results"]) == set(TABLES[table]["facets"])
    assert page["suggested_facets"] == []


def test_a_facet_counts_and_narrows(site: Site) -> None:
    """Of each status there are so many, and its link shows just those."""
    facets = site.get("/catalog/skills.json").json()["facet_results"]["status"]["results"]
    counts = {facet["value"]: facet["count"] for facet in facets}
    assert counts == {"active": 6, "rejected": 2, "shadowed": 1, "pending": 1, "removed": 1}
    assert {row["status"] for row in site.rows("skills", status="shadowed")} == {"shadowed"}


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param("counting", {"word-count", "dup", "worse"}, id="English, by its stem"),
        pytest.param("writing", {"word-count"}, id="a tag"),
        pytest.param("会议", {"会议纪要"}, id="two Chinese characters of the name"),
        pytest.param("录音", {"会议纪要"}, id="two Chinese characters inside the description"),
        pytest.param("broken", set(), id="what was never accepted"),
        pytest.param("AND (", set(), id="what FTS5 would take for syntax"),
    ],
)
def test_the_search_finds_skills(site: Site, words: str, found: set[str]) -> None:
    """Datasette's own search box finds English and Chinese."""
    assert {row["name"] for row in site.rows("skills", _search=words)} == found


def test_hidden_tables_are_out_of_sight(site: Site) -> None:
    """The front page names what people come for and not what makes it work."""
    hidden = {table["name"] for table in site.get("/catalog.json").json()["tables"]
              if table["hidden"]}
    assert {"skill_text", "_sqlite_migrations", "skills_fts", "skills_fts_data"} <= hidden
    assert not hidden & set(SHOWN)


@pytest.mark.parametrize(
    ("table", "column", "label"),
    [("versions", "skill", "word-count"), ("findings", "skill", "word-count"),
     ("index_entries", "skill", "dup"), ("skills", "shadowed_by", "dup"),
     ("skills", "root", ROOT), ("index_builds", "index_name", "default")],
)
def test_rows_link_to_one_another_by_name(
    site: Site, table: str, column: str, label: str
) -> None:
    """A foreign key shows what it means instead of a number."""
    rows = site.rows(table, _labels="on", _size="max")
    assert label in [row[column]["label"] for row in rows if isinstance(row[column], dict)]


def test_numbers_show_their_units(site: Site) -> None:
    """A time in milliseconds is shown as one."""
    assert ">1.2 s<" in site.get("/catalog/scans").text


def test_text_of_a_skill_is_shown_as_text(site: Site, catalog: Path) -> None:
    """Skills are not trusted: markup in a description stays words."""
    store = Store.open(catalog)
    store.apply([judged("evil", "<script>alert(1)</script>")], trigger="event", at=NOON)
    store.close()
    page = site.get("/catalog/skills", name="evil").text
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert(1)" not in page


def test_what_is_written_is_seen_at_once(tmp_path: Path, serve: Callable[[Path], Site]) -> None:
    """The site reads beside the open writer, from the file and its log."""
    store = fill(Store.open(tmp_path / "catalog.db"))
    site = serve(tmp_path / "catalog.db")
    assert site.rows("skills", name="new-one") == []
    store.apply([judged("new-one")], trigger="event", at=NOON)
    assert len(site.rows("skills", name="new-one")) == 1
    store.close()


@pytest.mark.parametrize("sql", [
    "delete from skills", "insert into health (id) values (2)", "drop table skills",
    "pragma journal_mode = delete", "attach database '/tmp/x.db' as x",
    "with gone as (select 1) delete from skills",
])
def test_sql_that_writes_is_refused(site: Site, sql: str) -> None:
    """A question is answered, and nothing else is done."""
    assert site.get("/catalog.json", sql="select count(*) from skills").status_code == 200
    assert site.get("/catalog.json", sql=sql).status_code == 400
    assert len(site.rows("skills")) == 11


def test_the_file_is_open_for_reading_only(site: Site) -> None:
    """Even where Datasette's own check let something through, SQLite would not."""
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        site.runner.run(site.datasette.get_database("catalog").execute("delete from skills"))


# Canned queries

@pytest.mark.parametrize(
    ("asked", "answers"),
    [
        pytest.param("word-count", [
            ("company", "no", "The index lets in only"), ("default", "yes", "It is number ")],
            id="in one index and filtered from the other"),
        pytest.param("SECRET", [("company", "no", "disable-model"), ("default", "no", "disable-")],
                     id="hidden"),
        pytest.param("zz-l", [("company", "no", "lets in only"),
                              ("default", "no", "does not fit into 500 characters")],
                     id="over the budget"),
        pytest.param("mine/", [(None, "no", "shadowed by the enterprise skill in /company/dup")],
                     id="shadowed, by its path"),
        pytest.param("broken", [(None, "no", "It was rejected. There is no description.")],
                     id="rejected"),
        pytest.param("gone", [(None, "no", "Its folder is gone since 2026-11-20T12:00")],
                     id="removed"),
        pytest.param("copying", [(None, "no", "12:00:00.000+00:00: still changing.")],
                     id="pending"),
        pytest.param("worse", [("company", "no", "newest content was rejected"),
                               ("default", "yes", "newest content was rejected")],
                     id="the last good version stands in"),
        pytest.param("loose", [(None, "no", "No skill.")], id="a folder that is no skill"),
        pytest.param("100%", [(None, "no", "No such skill and no such folder was ever seen")],
                     id="never seen"),
    ],
)
def test_why_a_skill_is_not_in_the_index(
    site: Site, asked: str, answers: list[tuple[str | None, str, str]]
) -> None:
    """Whatever became of it, there is a reason, and what to do where something can be done."""
    rows = site.rows("why_not_in_the_index", skill=asked)
    assert [(row["index"], row["in_the_index"]) for row in rows] == [
        (index, inside) for index, inside, _ in answers]
    assert [row["because"] for row, (_, _, why) in zip(rows, answers, strict=True)
            if why not in row["because"]] == []
    assert [row for row in rows if row["in_the_index"] == "no" and not row["what_to_do"]] == []


def test_why_tells_the_findings_with_their_place(site: Site) -> None:
    """They need not be looked up in another table."""
    row, = site.rows("why_not_in_the_index", skill="broken")
    assert row["findings"] == "error, SKILL.md:2: There is no description. Write one."


def test_why_tells_of_a_root_that_cannot_be_read(site: Site, catalog: Path) -> None:
    """A share that is not mounted explains every skill that is missing."""
    store = Store.open(catalog)
    store.set_root_trouble("/company", "No such file or directory")
    store.close()
    told = [(row["status"], row["folder"], row["because"])
            for row in site.rows("why_not_in_the_index", skill="no such thing")]
    assert ("no root", "/company", "No such file or directory") in told


@pytest.mark.parametrize(
    ("days", "names"),
    [
        pytest.param("", {"word-count"}, id="nothing said: a week"),
        pytest.param("rubbish", {"word-count"}, id="no number: a week"),
        pytest.param("36500", {"word-count", "old"}, id="a hundred years"),
    ],
)
def test_what_changed(
    catalog: Path, serve: Callable[[Path], Site], days: str, names: set[str]
) -> None:
    """Changes of skills and publications of indexes of that time, newest first."""
    now = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime())
    db = sqlite3.connect(catalog)
    db.execute("UPDATE ingestions SET started_at = ? WHERE path = 'word-count'", [now])
    db.execute("UPDATE ingestions SET started_at = ? WHERE path != 'word-count'", [LONG_AGO])
    db.execute("UPDATE index_builds SET published_at = ?", [now])
    db.commit()
    db.close()
    rows = serve(catalog).rows("what_changed", days=days)
    assert {row["name"] for row in rows} & {"word-count", "old"} == names
    assert [row["at"] for row in rows] == sorted((row["at"] for row in rows), reverse=True)
    assert {row["name"] for row in rows if row["what"] == "index published"} == {
        "default", "company"}


@pytest.mark.parametrize(
    ("tool", "names"),
    [
        ("Bash", ["secret", "word-count"]),
        (" bash ", ["secret", "word-count"]),
        ("Bash(wc:*)", ["word-count"]),
        ("Read", ["word-count"]),
        ("wc", []),
        ("", ["secret", "word-count", "zz-large"]),
    ],
)
def test_skills_that_ask_for_a_tool(site: Site, tool: str, names: list[str]) -> None:
    """A tool is meant whole: Bash is in Bash(wc:*) and not in Bashful."""
    assert [row["name"] for row in site.rows("skills_with_tool", tool=tool)] == names


# The address

def test_an_address_that_is_free_passes() -> None:
    """Checking leaves nothing behind that would keep the site from listening there."""
    port = free_port()
    address.check("127.0.0.1", port)
    address.check("127.0.0.1", port)


def test_a_port_in_use_is_named(catalog: Path) -> None:
    """The site is not started only to die of it."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SiteUnavailable, match=f"127.0.0.1:{port}: another program does"):
            SiteProcess(catalog, "127.0.0.1", port).start()


@pytest.mark.parametrize(
    ("host", "complaint"),
    [("192.0.2.1", "this machine does not have that address"),
     ("no host", "no such host is known"), ("a" * 64 + ".org", "no such host is known")],
)
def test_an_address_that_is_not_ours_is_named(host: str, complaint: str) -> None:
    """A misspelt address is one sentence and not a traceback."""
    with pytest.raises(SiteUnavailable, match=complaint):
        address.check(host, free_port())


@pytest.mark.parametrize(
    ("host", "url"),
    [("127.0.0.1", "http://127.0.0.1:80/"), ("0.0.0.0", "http://127.0.0.1:80/"),
     ("::", "http://[::1]:80/"), ("example.org", "http://example.org:80/")],
)
def test_a_browser_can_follow_the_url(host: str, url: str) -> None:
    """An address that means all of them is shown as the one that leads here."""
    assert address.url(host, 80) == url


# The process

def free_port() -> int:
    """Return a port nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


@pytest.fixture
def child(catalog: Path, tmp_path: Path) -> Iterator[SiteProcess]:
    """Return the site of the filled catalog, not yet started."""
    child = SiteProcess(catalog, "127.0.0.1", free_port(), tmp_path / "site.log")
    yield child
    child.stop()


def ask(child: SiteProcess, path: str = "catalog/skills.json?_shape=array") -> Any:
    """Ask a child as soon as it answers; it has 60 seconds to."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with suppress(httpx.ConnectError):
            return httpx.get(f"{child.url}{path}", trust_env=False).raise_for_status().json()
        assert not ended(child.pid, 0.02), "the site ended"
    pytest.fail("the site does not answer")


def ended(pid: int | None, seconds: float) -> bool:
    """Wait for a process to end, for so long at most."""
    try:
        handle = os.pidfd_open(pid or 0)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([handle], [], [], seconds)[0])
    finally:
        os.close(handle)


def test_the_child_serves_until_it_is_stopped(child: SiteProcess) -> None:
    """Started it answers, stopped it is gone, and its port is free again."""
    child.start()
    assert len(ask(child)) == 11
    pid = child.pid
    child.stop()
    assert ended(pid, 0)
    assert child.pid is None
    child.start()


def test_the_child_serves_a_catalog_of_any_name(tmp_path: Path) -> None:
    """A folder or file may be called what it likes; the site calls it `catalog`."""
    path = tmp_path / "100% #1? 目录" / "skills.sqlite"
    fill(Store.open(path)).close()
    child = SiteProcess(path, "127.0.0.1", free_port(), tmp_path / "site.log")
    child.start()
    try:
        assert len(ask(child)) == 11
    finally:
        child.stop()


def test_the_child_is_not_led_astray_by_the_working_directory(
    child: SiteProcess, tmp_path: Path
) -> None:
    """A `catalog` that lies where a command is started is not the package that is run."""
    (tmp_path / "catalog").mkdir()
    (tmp_path / "catalog" / "__init__.py").write_text("raise SystemExit('astray')")
    child.start()
    assert len(ask(child)) == 11


def test_wait_returns_when_a_signal_handler_stops_the_site(child: SiteProcess) -> None:
    """`skilldrop serve` waits for the site and ends it at Ctrl-C."""
    before = signal.signal(signal.SIGALRM, lambda *_: child.stop())
    child.start()
    ask(child)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        assert child.wait() == -signal.SIGTERM
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_the_child_dies_with_its_parent(catalog: Path) -> None:
    """Even a parent that was killed leaves no site behind."""
    port = free_port()
    program = (
        "import sys; from pathlib import Path; from catalog.site.process import SiteProcess\n"
        f"site = SiteProcess(Path({str(catalog)!r}), '127.0.0.1', {port})\n"
        "site.start(); print(site.pid, flush=True); site.wait()"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True,
                              env=os.environ | {"PYTHONPATH": str(REPOSITORY)})
    with parent:
        assert parent.stdout
        pid = int(parent.stdout.readline())
        handle = os.pidfd_open(pid)  # taken now: later the number could mean another process
        parent.kill()
    died = select.select([handle], [], [], 10)[0]
    if not died:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
    os.close(handle)
    assert died, "the site outlived its parent"


def test_a_child_that_died_is_started_again(child: SiteProcess) -> None:
    """At the first death there is no pause, and the new one serves."""
    child.start()
    ask(child)
    pid = child.pid
    child.ensure_running(100.0)
    assert child.pid == pid, "it runs, so nothing is done"
    os.kill(pid or 0, signal.SIGKILL)
    assert ended(pid, 10)
    child.ensure_running(101.0)
    assert child.pid != pid
    assert len(ask(child)) == 11


def test_a_stopped_child_stays_stopped(child: SiteProcess) -> None:
    """Neither before the start nor after the end does looking after it start it."""
    child.ensure_running(1.0)
    assert child.pid is None
    child.start()
    child.stop()
    child.ensure_running(2.0)
    assert child.pid is None


@pytest.fixture
def sickly(child: SiteProcess, monkeypatch: pytest.MonkeyPatch) -> SiteProcess:
    """Return a site that ends as soon as it is started."""
    monkeypatch.setattr(child, "_command", lambda: [sys.executable, "-c", "raise SystemExit(3)"])
    return child


def tries(child: SiteProcess, times: list[float]) -> list[float]:
    """Look after a site at these times; return those at which it was started."""
    started = []
    for now in times:
        before = child.pid
        assert ended(before, 10)
        child.ensure_running(now)
        started += [now] if child.pid != before else []
    return started


def test_a_child_that_does_not_stay_up_gets_ever_longer_pauses(
    sickly: SiteProcess, caplog: pytest.LogCaptureFixture
) -> None:
    """At once, after 1 s, 2 s, 4 s … and never more than a minute; each is logged once."""
    sickly.start()
    assert tries(sickly, [0, 1, 1.9, 2, 3, 4.9, 5, 6, 9.9, 10]) == [0, 2, 5, 10]
    assert "The site ended with code 3; starting it again in 1 s" in caplog.messages
    assert len(caplog.messages) == 4
    assert tries(sickly, [20, 28, 29, 45, 46, 78, 79, 138.9, 139, 140, 200]) == [
        28, 45, 78, 139, 200]


def test_a_child_that_ran_for_long_is_trusted_again(child: SiteProcess) -> None:
    """After a minute of service a death is the first one again."""
    child._pause = 32.0
    child.start()
    child.ensure_running(0)
    child.ensure_running(process.STEADY)
    os.kill(child.pid or 0, signal.SIGKILL)
    assert tries(child, [100]) == [100]


def test_a_port_taken_meanwhile_is_logged_and_tried_again(
    sickly: SiteProcess, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is raised into the service, whose work goes on without the site."""
    sickly.start()
    assert ended(sickly.pid, 10)
    port = int(sickly.url.rstrip("/").rpartition(":")[2])
    with socket.create_server(("127.0.0.1", port)):
        assert tries(sickly, [0, 0.5]) == []
    assert "another program does" in caplog.messages[-1]
    assert tries(sickly, [1]) == [1]


@pytest.mark.parametrize(
    ("content", "error", "complaint"),
    [
        pytest.param(None, NotInCatalog, "There is no catalog at .* yet", id="missing"),
        pytest.param(b"no database, but long enough to be read as one" * 20, CatalogUnusable,
                     "cannot be read", id="no database"),
        pytest.param(b"", CatalogUnusable, "cannot be read", id="empty"),
    ],
)
def test_without_a_catalog_there_is_no_site(
    tmp_path: Path, content: bytes | None, error: type[SkilldropError], complaint: str
) -> None:
    """One sentence says so, and nothing is started or created."""
    path = tmp_path / "catalog.db"
    if content is not None:
        path.write_bytes(content)
    site = SiteProcess(path, "127.0.0.1", free_port())
    with pytest.raises(error, match=complaint):
        site.start()
    assert site.pid is None
    assert path.exists() == (content is not None)


def test_the_command_says_in_one_line_why_it_cannot_serve(tmp_path: Path) -> None:
    """`python -m catalog.site` ends with code 1 and a sentence, not a traceback."""
    done = subprocess.run([sys.executable, "-m", "catalog.site", str(tmp_path / "none.db")],
                          capture_output=True, text=True, check=False,
                          env=os.environ | {"PYTHONPATH": str(REPOSITORY)})
    assert done.returncode == 1
    assert re.fullmatch(r"There is no catalog at .*none.db yet\. .*\n", done.stderr)


def test_a_large_log_is_set_aside(child: SiteProcess, tmp_path: Path) -> None:
    """The log of months does not fill the disk; the last one is kept."""
    log = tmp_path / "site.log"
    log.write_bytes(b"x" * (process.LOG_BYTES + 1))
    child.start()
    assert log.stat().st_size < process.LOG_BYTES
    assert (tmp_path / "site.log.1").stat().st_size == process.LOG_BYTES + 1
