"""Protection from hostile visitors: accepted host names and refused queries."""

import asyncio
import json
import socket
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from datasette.cli import cli

from catalog.reading.skills import skill_facts
from catalog.site.http import access, limits
from catalog.site.server import app
from catalog.writing.store import Store
from tests.support.records import NOON, judged
from tests.support.sites import Site

ELSEWHERE = {
    "a proxy": {"X-Forwarded-For": "203.0.113.7"},
    "another site": {"Sec-Fetch-Site": "cross-site"},
}
"""Headers of requests to loopback that do not come from this machine's own user."""
HUGE = "select hex(zeroblob(200000000))"


# SQL of visitors


@pytest.mark.parametrize(
    "path",
    [
        "/catalog.json",
        "/catalog",
        "/catalog.csv",
        "/catalog.jsono",
        "/_internal.json",
    ],
)
def test_sql_from_other_machines_is_refused(site: Site, path: str) -> None:
    """A statement in the address is not run, whatever the form of the answer."""
    for sql in ("select 1", HUGE):
        response = site.ask("get", path, params={"sql": sql}, headers=ELSEWHERE["a proxy"])
        assert response.status_code == 403
        assert "_internal" in path or "does not run SQL" in response.text or "json" not in path


def test_conditions_from_other_machines_are_refused(site: Site) -> None:
    """`?_where=` is SQL, too."""
    address = "/catalog/skills.json?_where=1=1"
    assert site.ask("get", address, headers=ELSEWHERE["a proxy"]).status_code == 403
    assert site.ask("get", address).status_code == 200


@pytest.mark.requirement("card/sql", "card/inner-pages")
def test_a_site_on_loopback_runs_sql_and_shows_inner_pages(site: Site) -> None:
    """That is what readers of Datasette expect; values stay bounded."""
    for path, sql in (
        ("/catalog.json", "select 1"),
        ("/catalog.json", "select count(*) from skills"),
    ):
        assert site.get(path, sql=sql, _shape="array").status_code == 200
    assert "too big" in site.get("/catalog.json", sql=HUGE).json()["error"]
    slow = "with recursive n(x) as (select 1 union all select x + 1 from n) select count(*) from n"
    assert "too long" in site.get("/catalog.json", sql=slow).json()["error"]
    for page in ("metadata", "versions", "plugins"):
        assert site.get(f"/-/{page}.json").status_code == 200
        assert site.get(f"/-/{page}").status_code == 200


@pytest.mark.requirement("card/sql", "card/inner-pages")
@pytest.mark.parametrize("headers", ELSEWHERE.values(), ids=ELSEWHERE)
def test_a_request_that_comes_from_elsewhere_gets_neither(
    site: Site, headers: dict[str, str]
) -> None:
    """A proxy on this machine, and a page of another site in a browser on it."""
    assert site.ask("get", "/catalog.json?sql=select+1", headers=headers).status_code == 403
    assert site.ask("get", "/-/plugins.json", headers=headers).status_code == 404


@pytest.mark.requirement("card/sql", "card/inner-pages")
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({"host": "0.0.0.0"}, id="all addresses"),
        pytest.param({"names": ("skills.example.org",)}, id="a name"),
        pytest.param({"url": "https://skills.example.org/"}, id="a URL"),
        pytest.param({"behind_proxy": True}, id="a proxy"),
        pytest.param({"sql": False}, id="switched off"),
    ],
)
def test_a_site_for_others_runs_no_sql(
    catalog: Path, serve: Callable[..., Site], settings: dict[str, Any]
) -> None:
    """Even a request from this machine is refused, as it may come through a proxy."""
    site = serve(catalog, **settings)
    assert site.get("/catalog.json", sql="select 1").status_code == 403
    assert site.get("/-/plugins.json").status_code == (200 if "sql" in settings else 404)
    assert "?sql=" not in site.get("/catalog/skills_with_tool?tool=Bash").text


def test_canned_queries_run_only_their_own_sql(site: Site) -> None:
    """They answer, and a statement beside their parameters is ignored."""
    rows = site.rows("skills_with_tool", tool="Bash", sql="select 'smuggled' as name")
    assert {row["name"] for row in rows} == {"secret", "word-count"}


def test_only_readers_who_may_run_sql_are_offered_it(site: Site) -> None:
    """Pages do not offer SQL that the site would refuse."""
    for path in ("/catalog", "/catalog/skills", "/catalog/skills_with_tool?tool=Bash"):
        for headers in ({}, ELSEWHERE["a proxy"]):
            page = site.ask("get", path, headers=headers).text
            assert ("?sql=" in page or 'name="sql"' in page) == (not headers), path


def test_the_operator_may_allow_sql(catalog: Path, serve: Callable[..., Site]) -> None:
    """With the setting a question is answered, and its values stay bounded."""
    site = serve(catalog, sql=True, url="https://skills.example.org/")
    assert site.get("/catalog.json", sql="select 1", _shape="arrays").json()["rows"] == [[1]]
    response = site.get("/catalog.json", sql=HUGE)
    assert response.status_code == 400
    assert "too big" in response.json()["error"]


def plain(*words: str) -> Any:
    """Return the JSON that Datasette's own command prints."""
    answer = CliRunner().invoke(cli, words)
    assert answer.stdout, answer.stderr
    return json.loads(answer.stdout)


def test_plain_datasette_runs_sql_for_this_machine_alone(
    catalog: Path, tmp_path: Path, elsewhere: Callable[..., Any]
) -> None:
    """With our metadata file, and with none; a name makes the site one for others."""
    named = tmp_path / "named.json"
    named.write_text(json.dumps({"plugins": {"skilldrop": {"names": ["skills.example.org"]}}}))
    for more, answers in (
        (["-m", str(app.metadata_path())], {"ok": True}),
        ([], {"ok": True}),
        (["-m", str(named)], {"ok": False, "status": 403}),
    ):
        answer = elsewhere(plain, str(catalog), *more, "--get", "/catalog.json?sql=select+1")
        assert {key: answer.get(key) for key in answers} == answers


def test_plain_datasette_says_that_a_page_is_missing(
    catalog: Path, elsewhere: Callable[..., Any]
) -> None:
    """Also where rich is installed, with which Datasette itself fails."""
    assert elsewhere(plain, str(catalog), "--get", "/nothing.json")["status"] == 404


def test_the_database_is_no_download(site: Site) -> None:
    """The file holds texts of removed skills."""
    assert site.get("/catalog.db").status_code == 403


# Limits of SQLite


def test_every_connection_of_the_site_is_limited(site: Site) -> None:
    """Length of values, depth of expressions and patterns end far below SQLite's own limits."""

    def limits(connection: sqlite3.Connection) -> list[int]:
        return [
            connection.getlimit(number)
            for number in (
                sqlite3.SQLITE_LIMIT_LENGTH,
                sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH,
                sqlite3.SQLITE_LIMIT_ATTACHED,
            )
        ]

    length, pattern, attached = site.runner.run(
        site.datasette.get_database("catalog").execute_fn(limits)
    )
    assert length <= 64 * 2**20
    assert pattern <= 1000
    assert attached == 0


# Costly questions


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("/catalog/skills.json?" + "&".join(["_facet=name"] * 20), "facets"),
        (
            "/catalog/skills.json?" + "&".join(f"name__contains={n}" for n in range(300)),
            "parameters",
        ),
        ("/catalog/skills.json?_search=" + "a+" * 300, "words"),
        ("/catalog/skills.json?_search_name=" + "a+" * 300, "words"),
        ("/catalog/skills.json?_timelimit=x", "_timelimit"),
        ("/catalog/skills.json?_size=-9&_facet_size=x", "_size"),
        ("/catalog/skills.json?_through=x", "_through"),
        ("/catalog/skills.json?name=" + "x" * 9000, "long"),
    ],
)
def test_a_costly_or_broken_question_is_refused(site: Site, path: str, complaint: str) -> None:
    """One sentence names the limit, before the catalog is queried."""
    response = site.get(path)
    assert response.status_code in {400, 414}, response.text
    assert complaint in response.json()["error"]


def test_a_page_of_huge_rows_is_refused(
    catalog: Path, serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page has a bounded number of bytes, however many rows it may have."""
    with closing(Store.open(catalog)) as store:
        huge = [judged(f"huge-{number}", "x" * 100_000) for number in range(4)]
        store.apply(huge, trigger="event", at=NOON)
    monkeypatch.setattr(limits, "RESULT_BYTES", 300_000)
    site = serve(catalog)
    response = site.get("/catalog/skills.json", _size="max")
    assert response.status_code == 400
    assert "_size" in response.json()["error"]
    response = site.get("/skills")
    assert response.status_code == 400
    assert "read too much" in response.text


def test_questions_about_tables_leave_room_for_others(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While as many run as may, another is put off, and everything else is answered."""
    monkeypatch.setattr(limits, "PATIENCE", 0.01)

    async def asked() -> list[Any]:
        turns = [await limits.take(site.datasette, limits.TABLES, of) for of in "ab"]
        try:
            return [
                await site.request("get", path)
                for path in (
                    "/catalog/skills.json",
                    "/catalog/what_changed",
                    "/skills",
                    "/-/healthz",
                )
            ]
        finally:
            for turn in turns:
                turn.close()

    answers = site.runner.run(asked())
    assert [answer.status_code for answer in answers[:3]] == [503, 503, 200]
    assert answers[0].json()["error"]
    assert answers[0].headers["retry-after"]
    assert answers[3].json()["health"]
    assert site.get("/catalog/skills.json").status_code == 200


@pytest.mark.parametrize(
    "path", ["/~63atalog/skills.csv?_stream=1", "/usage", "/health", "/activity.atom", "/no-page"]
)
def test_fifty_visitors_of_one_page_leave_the_front_page(
    site: Site, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Two of them are answered at once, whatever the spelling; the others are put off."""
    monkeypatch.setattr(limits, "PATIENCE", 0.001)

    async def ask(path: str) -> int:
        return (await site.request("get", path, follow_redirects=True)).status_code

    async def all_at_once() -> list[int]:
        return await asyncio.gather(*(ask(path) for _ in range(50)), ask("/"))

    *others, front = site.runner.run(all_at_once())
    assert front == 200
    assert {*others} == {404 if path == "/no-page" else 200, 503}
    assert others.count(503) > 25


SPELLINGS = [
    "/~63atalog/skills.csv?_stream=1",
    "/~63atalo~67/skills.json",
    "/~63atalog/~73kills/1",
    "/~63atalog/what_changed",
    "/~63atalog",
    "/catalog/~73kills",
    "/catalog/skill~73.json?_size=1",
    "/catalog/what~5fchanged",
    "/%63atalog/skills.csv?_stream=1",
    "/%63atalog/skills",
    "/catalog/%73kills.csv",
    "/~63atalog/%73kills",
    "/%7E63atalog/skills",
    "/~7E63atalog/skills",
    "/%2563atalog/skills",
    "/%257E63atalog/skills",
    "/~2563atalog/skills",
]
"""Addresses of tables in other spellings; Datasette decodes some of them."""


@pytest.fixture
def busy(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """Return a site that answers as many questions about tables as it may."""
    monkeypatch.setattr(limits, "PATIENCE", 0.01)
    turns = [site.runner.run(limits.take(site.datasette, limits.TABLES, of)) for of in "ab"]
    yield site
    for turn in turns:
        turn.close()


@pytest.mark.parametrize("path", SPELLINGS)
def test_no_spelling_of_an_address_leads_past_the_limits(busy: Site, path: str) -> None:
    """It leads to the table or nowhere, and that has its slots, limits and methods."""
    path += f"{'&' if '?' in path else '?'}rowid__gt=0"
    assert busy.get(path).status_code in {404, 503}
    assert busy.ask("post", path).status_code in {302, 404, 405}
    assert busy.get(f"{path}&_search={'a+' * 300}").status_code in {400, 404}


@pytest.mark.parametrize(
    "path", ["/catalog/roots/~2Fskills", "/catalog/a~2Eb", "/skills/~63atalog", "/~7E63atalog"]
)
def test_a_tilde_in_a_path_is_no_fault(site: Site, path: str) -> None:
    """Datasette decodes it in names of tables; in paths of the site it means itself."""
    assert site.ask("get", path).status_code in {200, 404}


def test_a_slot_is_free_once_the_answer_begins(site: Site) -> None:
    """Also where it is an error; an export keeps it to its end."""
    for path in (
        "/catalog/skills.json",
        "/catalog/nothing",
        "/catalog/skills?_next=%00&_size=x",
        "/catalog/skills.csv?_stream=1",
        "/catalog/skills.json?sql=x",
    ):
        site.get(path)
        for turn in [
            site.runner.run(limits.take(site.datasette, limits.TABLES, of)) for of in "ab"
        ]:
            turn.close()


def test_an_export_row_by_row_is_read_in_pages(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page of one row costs as much as one of thirty."""
    database = site.datasette.get_database("catalog")
    execute, asked = database.execute, []

    async def counting(sql: str, *more: Any, **named: Any) -> Any:
        asked.append(sql)
        return await execute(sql, *more, **named)

    monkeypatch.setattr(database, "execute", counting)
    assert len(site.get("/catalog/skills.csv", _stream=1, _size=1).text.splitlines()) == 12
    assert sum("limit 31" in sql for sql in asked) == 1
    assert not any("limit 2" in sql for sql in asked)


# Names


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1:8001",
        "localhost:8001",
        "LOCALHOST",
        "[::1]:8001",
        "localhost.",
    ],
)
@pytest.mark.parametrize("path", ["/", "/skills", "/catalog/skills.json", "/-/healthz"])
def test_the_site_answers_to_its_own_names(site: Site, path: str, host: str) -> None:
    """Loopback by any of its names, with any port."""
    assert site.ask("get", path, headers={"Host": host}).status_code in {200, 503}


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8001",
        "127.0.0.1.evil.example",
        "localhost@evil.example",
        "127.0.0.1:x",
        "",
        "10.9.8.7",
    ],
)
@pytest.mark.parametrize("path", ["/", "/catalog/skills.json", "/-/healthz", "/-/nothing/"])
def test_the_site_does_not_answer_to_other_names(site: Site, path: str, host: str) -> None:
    """A web page whose name leads to this address learns nothing, and reads nothing of itself."""
    response = site.ask("get", path, headers={"Host": host})
    assert response.status_code == 421
    assert "evil.example" not in response.text
    assert "names" in response.text
    assert response.headers["content-security-policy"]


def test_a_proxy_may_give_the_site_another_name(catalog: Path, serve: Callable[..., Site]) -> None:
    """The names in the settings are answered to, and no others."""
    site = serve(catalog, names=("skills.example.org",))
    for host, status in (
        ("skills.example.org", 200),
        ("Skills.Example.org:443", 200),
        ("skills.example", 421),
        ("www.skills.example.org", 421),
    ):
        assert site.ask("get", "/skills", headers={"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("host", "address", "is_answered"),
    [
        ("192.0.2.7:8001", "192.0.2.7", True),
        ("192.0.2.8", "192.0.2.7", False),
        ("[2001:db8::7]:80", "2001:db8::7", True),
        ("localhost", "192.0.2.7", True),
        (socket.gethostname(), "192.0.2.7", True),
        (socket.gethostname(), "127.0.0.1", False),
        ("0.0.0.0", "192.0.2.7", False),
        ("evil.example", "192.0.2.7", False),
    ],
)
def test_a_site_on_all_addresses_answers_to_those_of_this_machine(
    host: str, address: str, is_answered: bool
) -> None:
    """The address of the connection is accepted, and the machine's name on other interfaces."""
    scope = {"headers": [(b"host", host.encode())], "server": (address, 8001)}
    assert access.Names([]).include(scope) == is_answered


@pytest.mark.parametrize("headers", [[], [(b"host", b"localhost"), (b"host", b"evil.example")]])
def test_a_request_names_one_host(headers: list[tuple[bytes, bytes]]) -> None:
    """A request without a Host header, or with two, is refused."""
    assert not access.Names([]).include({"headers": headers, "server": ("127.0.0.1", 1)})


def test_no_address_leads_to_another_site(site: Site) -> None:
    """A path that begins like an address is no redirect to it."""
    for path in ("//evil.example/", "//evil.example/%2e", "///evil.example/"):
        response = site.ask("get", path, follow_redirects=False)
        assert "evil" not in response.headers.get("location", "")


# Inner pages

INNER = [
    "threads",
    "settings",
    "allow-debug",
    "databases",
    "plugins",
    "metadata",
    "config",
    "actor",
    "messages",
    "patterns",
    "permissions",
    "logout",
    "auth-token",
    "versions",
]


@pytest.mark.parametrize("page", INNER)
def test_inner_pages_of_datasette_are_not_shown(site: Site, page: str) -> None:
    """They tell of threads, files and settings, and only users of the machine may know."""
    for path in (f"/-/{page}", f"/-/{page}.json", f"/-/{page}?all=1"):
        response = site.ask("get", path, headers=ELSEWHERE["a proxy"])
        assert response.status_code == 404, path
        assert "catalog.db" not in response.text


def test_the_operator_of_a_plain_datasette_may_show_them(
    catalog: Path, tmp_path: Path, elsewhere: Callable[..., Any]
) -> None:
    """By the plugin's own setting in the metadata file."""
    metadata = tmp_path / "metadata.json"
    metadata.write_text(json.dumps({"plugins": {"skilldrop": {"inner_pages": True}}}))
    answer = elsewhere(plain, str(catalog), "-m", str(metadata), "--get", "/-/versions.json")
    assert "sqlite" in answer


# Errors of programs


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("get", "/catalog/nothing.json", 404),
        ("get", "/nothing.json", 404),
        ("get", "/_internal.json", 403),
        ("get", "/skills/none/preview", 404),
        ("get", "/index/none", 404),
        ("get", "/index/none.meta.json", 404),
        ("get", "/catalog/skills.json?_size=x", 400),
        ("post", "/catalog/skills.json", 405),
        ("put", "/catalog/skills.json", 405),
        ("post", "/search.json", 405),
        ("put", "/skills/word-count/preview", 405),
        ("delete", "/-/healthz", 405),
        ("put", "/.json", 405),
        ("post", "/.json", 405),
        ("put", "/.well-known/agent-skills/index.json", 405),
    ],
)
def test_errors_of_json_routes_are_json(site: Site, method: str, path: str, status: int) -> None:
    """Errors of JSON endpoints are JSON."""
    response = site.ask(method, path)
    assert response.status_code == status
    assert response.headers["content-type"].startswith("application/json")
    assert response.json()["error"]


@pytest.mark.parametrize(
    "path",
    [
        "/catalog/skills.json?_size=9",
        "/search.json?q=a",
        "/skills/word-count/preview",
        "/-/healthz",
    ],
)
def test_a_bug_of_a_json_route_is_json(
    site: Site, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The response reports an internal error without details."""

    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("the inside")

    monkeypatch.setattr(type(site.datasette.get_database("catalog")), "execute_fn", broken)
    response = site.get(path)
    assert response.status_code == 500
    assert response.headers["content-type"].startswith("application/json")
    assert response.json()["error"]
    assert "inside" not in response.text


def test_a_program_is_told_that_the_catalog_is_busy(
    catalog: Path, serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query beyond the time limit is a 503 in JSON."""
    endless = "WITH RECURSIVE n AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT count(*) FROM n"
    monkeypatch.setattr(limits, "SETTINGS", {**limits.SETTINGS, "sql_time_limit_ms": 50})
    monkeypatch.setattr(skill_facts, "definition", lambda db, _: db.execute(endless).fetchone())
    response = serve(catalog).get("/skills/word-count/preview")
    assert response.status_code == 503
    assert response.json()["error"]


@pytest.mark.parametrize(
    "path", ["/catalog/skills", "/catalog/skills.json", "/catalog/skills.csv?_stream=1"]
)
def test_tables_are_compressed_for_those_who_ask(site: Site, path: str) -> None:
    """As pages and as data; both forms have the same content."""
    plain = site.ask("get", path, headers={"Accept-Encoding": "identity"})
    packed = site.ask("get", path, headers={"Accept-Encoding": "gzip"})
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert "Accept-Encoding" in packed.headers["vary"]
    assert packed.text[:2000] == plain.text[:2000]
    assert len(packed.text) == pytest.approx(len(plain.text), abs=20)  # it says how long it took
    assert packed.num_bytes_downloaded < len(plain.content)


def test_one_visitor_leaves_a_turn_for_others(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """He takes all turns but one, and waits for his own."""
    monkeypatch.setattr(limits, "PATIENCE", 0.01)

    async def asked() -> None:
        with await limits.take(site.datasette, limits.TABLES, "10.0.0.1"):
            with pytest.raises(limits.Busy):
                await limits.take(site.datasette, limits.TABLES, "10.0.0.1")
            with await limits.take(site.datasette, limits.TABLES, "10.0.0.2"):
                pass
        (await limits.take(site.datasette, limits.TABLES, "10.0.0.1")).close()

    site.runner.run(asked())


@pytest.mark.parametrize("compression", ["gzip", "identity"])
def test_an_export_that_fails_half_way_has_no_end(
    catalog: Path, serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch, compression: str
) -> None:
    """Datasette writes the error among the rows; a client would take it for the last one."""
    monkeypatch.setitem(limits.SETTINGS, "default_page_size", 3)
    site = serve(catalog)
    database = site.datasette.get_database("catalog")
    execute = database.execute

    async def failing(sql: str, params: Any = None, **named: Any) -> Any:
        if ":p0" in sql:  # the second page
            raise sqlite3.OperationalError("disk I/O error")
        return await execute(sql, params, **named)

    monkeypatch.setattr(database, "execute", failing)
    headers = [(b"host", b"localhost"), (b"accept-encoding", compression.encode())]
    sent = site.messages(b"/catalog/versions.csv", headers, b"_stream=1")
    assert sent[0]["status"] == 200
    assert sent[-1]["more_body"]  # the server closes the connection of such a response
    assert b"error" not in b"".join(message.get("body", b"") for message in sent)


def test_crawlers_read_skills_and_no_tables(site: Site, prefixed_site: Site) -> None:
    """The file names paths as a crawler sees them."""
    assert "Disallow: /catalog\n" in site.get("/robots.txt").text
    assert "Disallow: /pre/catalog\n" in prefixed_site.get("/robots.txt").text
