"""The catalog in Datasette: descriptions of its tables, and their pages."""

import re
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from datasette.utils import parse_metadata

from catalog.model.declarations import ApexBridge
from catalog.site.server import app
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged
from tests.support.sites import Site, fill

REPOSITORY = Path(__file__).parents[3]
HIDDEN_BY_FTS = re.compile(r"skills?(_text)?_fts(_\w+)?")

# What is said of the tables

METADATA: dict[str, Any] = parse_metadata(app.metadata_path().read_text("utf-8"))
TABLES: dict[str, dict[str, Any]] = METADATA["databases"]["catalog"]["tables"]
QUERIES: dict[str, dict[str, Any]] = METADATA["databases"]["catalog"]["queries"]
SHOWN = [
    table
    for table, about in TABLES.items()
    if not about.get("hidden") or about.get("shown_with_rows")
]


def columns_of(catalog: Path) -> dict[str, list[str]]:
    """Return the columns of every table and view."""
    db = sqlite3.connect(catalog)
    tables = [
        name
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")
    ]
    found = {
        table: [row[1] for row in db.execute(f'PRAGMA table_xinfo("{table}")')] for table in tables
    }
    db.close()
    return found


@pytest.mark.requirement("card/columns")
def test_every_table_is_described_and_there_is_no_other(catalog: Path) -> None:
    """A new table or view is described with its migration; the tables of FTS5 hide themselves."""
    there_are = {table for table in columns_of(catalog) if not HIDDEN_BY_FTS.fullmatch(table)}
    assert set(TABLES) == there_are
    assert [
        table
        for table in SHOWN
        if not (
            TABLES[table].get("title")
            and (TABLES[table].get("description") or TABLES[table].get("description_html"))
        )
    ] == []


@pytest.mark.requirement("card/columns")
@pytest.mark.parametrize("table", [table for table in TABLES if table != "_sqlite_migrations"])
def test_every_column_is_described_and_there_is_no_other(catalog: Path, table: str) -> None:
    """None is forgotten or left over; those of declared fields stand together."""
    assert sorted(TABLES[table]["columns"]) == sorted(columns_of(catalog)[table])


@pytest.mark.parametrize("table", TABLES)
def test_what_is_set_for_a_table_names_its_columns(catalog: Path, table: str) -> None:
    """Sort orders, facets, units and labels speak of columns that exist."""
    about = TABLES[table]
    named = [
        about.get("sort"),
        about.get("sort_desc"),
        about.get("label_column"),
        about.get("fts_pk"),
        *about.get("units", {}),
        *about.get("facets", []),
        *about.get("sortable_columns", []),
    ]
    assert set(filter(None, named)) <= set(columns_of(catalog)[table])


def test_the_wheel_gets_the_file_where_it_is_looked_for() -> None:
    """It lies at the top of the repository, and in a wheel inside the package."""
    assert app.metadata_path() == REPOSITORY / "datasette-metadata.yml"
    build = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    places = build["targets"]["wheel"]["force-include"]
    assert places["datasette-metadata.yml"] == "catalog/site/datasette-metadata.yml"


def test_plain_datasette_understands_the_file(catalog: Path) -> None:
    """`datasette var/catalog.db -m datasette-metadata.yml` answers a canned query."""
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "datasette",
            str(catalog),
            "-m",
            str(app.metadata_path()),
            "--get",
            "/catalog/skills_with_tool.json?tool=Bash&_shape=arrayfirst",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == '["secret", "word-count"]\n', done.stderr


# Pages


@pytest.mark.requirement("card/browse")
@pytest.mark.parametrize(
    "path", ["", "catalog", *(f"catalog/{name}" for name in (*SHOWN, *QUERIES))]
)
def test_every_page_answers(site: Site, path: str) -> None:
    """No table, view or query ends in an error, and no browser shows an old page for it."""
    response = site.get(f"/{path}")
    assert response.status_code == 200
    assert response.headers.get("cache-control", "no-cache") == "no-cache"


def test_every_link_of_the_descriptions_leads_somewhere(site: Site) -> None:
    """The ways into the catalog that are written by hand do not end in an error."""
    pages = {"/": METADATA, **{f"/catalog/{name}": about for name, about in TABLES.items()}}
    links = [
        urljoin(page, link.replace("&amp;", "&"))
        for page, about in pages.items()
        for link in re.findall(r'href="([^"]+)"', about.get("description_html", ""))
    ]
    assert len(links) > 5
    assert {link: site.get(link).status_code for link in links} == dict.fromkeys(links, 200)


@pytest.mark.parametrize("table", [table for table in SHOWN if TABLES[table].get("facets")])
def test_configured_facets_are_there_and_no_others(site: Site, table: str) -> None:
    """They are counted, and others are not searched for by scanning every column."""
    page = site.get(f"/catalog/{table}.json").json()
    assert set(page["facet_results"]) == set(TABLES[table]["facets"])
    assert page["suggested_facets"] == []


def test_a_facet_counts_and_narrows(site: Site) -> None:
    """Each status has its number of skills, and its link shows only those."""
    facets = site.get("/catalog/skills.json").json()["facet_results"]["status"]["results"]
    counts = {facet["value"]: facet["count"] for facet in facets}
    assert counts == {"active": 6, "rejected": 2, "shadowed": 1, "pending": 1, "removed": 1}
    assert {row["status"] for row in site.rows("skills", status="shadowed")} == {"shadowed"}


@pytest.mark.requirement("card/browse")
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


@pytest.mark.requirement("card/tables")
def test_the_tables_that_people_ask_for_come_first(
    tmp_path: Path, serve: Callable[[Path], Site]
) -> None:
    """Tables of ApexBridge are in the list once they have rows."""
    store = fill(Store.open(tmp_path / "catalog.db"))
    site = serve(tmp_path / "catalog.db")
    names = listed(site.get("/catalog").text)
    assert names[:4] == ["skills", "versions", "files", "findings"]
    assert "apexbridge_skills" not in names
    package = judged("package", dialects={"apexbridge": ApexBridge(type="direct")})
    store.apply([package], trigger="event", at=NOON)
    assert listed(site.get("/catalog").text).index("apexbridge_skills") > names.index("roots")
    store.close()


def listed(page: str) -> list[str]:
    """Return the names of the tables and views on the page of the catalog, in order."""
    return re.findall(r"<span><code>(\w+)</code>", page)


def test_hidden_tables_are_out_of_sight(site: Site) -> None:
    """The overview lists only tables of interest to visitors."""
    hidden = {
        table["name"] for table in site.get("/catalog.json").json()["tables"] if table["hidden"]
    }
    assert {"skill_text", "_sqlite_migrations", "skills_fts", "skills_fts_data"} <= hidden
    assert not [name for name in hidden & set(SHOWN) if "shown_with_rows" not in TABLES[name]]


@pytest.mark.parametrize(
    ("table", "column", "label"),
    [
        ("versions", "skill", "word-count"),
        ("findings", "skill", "word-count"),
        ("index_entries", "skill", "dup"),
        ("skills", "shadowed_by", "dup"),
        ("skills", "root", ROOT),
        ("index_builds", "index_name", "default"),
    ],
)
def test_rows_link_to_one_another_by_name(site: Site, table: str, column: str, label: str) -> None:
    """A foreign key shows the name of its row instead of a number."""
    rows = site.rows(table, _labels="on", _size="max")
    assert label in [row[column]["label"] for row in rows if isinstance(row[column], dict)]


def test_numbers_show_their_units(site: Site) -> None:
    """A time in milliseconds is shown as one."""
    assert ">1.23 s<" in site.get("/catalog/scans").text


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


@pytest.mark.parametrize(
    "sql",
    [
        "delete from skills",
        "insert into health (id) values (2)",
        "drop table skills",
        "pragma journal_mode = delete",
        "attach database '/tmp/x.db' as x",
        "with gone as (select 1) delete from skills",
    ],
)
def test_sql_that_writes_is_refused(catalog: Path, serve: Callable[..., Site], sql: str) -> None:
    """Where the operator allows SQL, a question is answered, and nothing else is done."""
    site = serve(catalog, sql=True)
    assert site.get("/catalog.json", sql="select count(*) from skills").status_code == 200
    assert site.get("/catalog.json", sql=sql).status_code == 400
    assert len(site.rows("skills")) == 11


def test_the_file_is_open_for_reading_only(site: Site) -> None:
    """Even where Datasette's own check let something through, SQLite would not."""
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        site.runner.run(site.datasette.get_database("catalog").execute("delete from skills"))
