"""Reads that the site counts, and the pages that show them."""

import logging
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from catalog.usage import database
from catalog.usage.database import SkillRead
from tests.support.shelf import Shelf
from tests.support.sites import Site, site_of_shelf
from tests.support.skills import SkillWriter

QUERIES = ("never_read", "read_most", "read_though_superseded")


@pytest.fixture
def shelf(tmp_path: Path, skill: SkillWriter) -> Iterator[Shelf]:
    """Return two published skills, one of them with two files."""
    shelf = Shelf(tmp_path)
    skill(shelf.root / "pdf", files={"scripts/run.py": "print(1)\n"})
    skill(shelf.root / "csv")
    shelf.scan()
    yield shelf
    shelf.close()


site = pytest.fixture(site_of_shelf, name="site")


@pytest.fixture
def usage(shelf: Shelf) -> Path:
    """Return the path of the database of reads."""
    return database.path_of(shelf.settings.catalog_path)


def counted(site: Site, usage: Path) -> dict[str, int]:
    """Return the reads of each skill over HTTP."""
    site.write_counts()
    query = "SELECT skill_id, sum(reads) FROM reads WHERE route = 'http' GROUP BY 1"
    with closing(sqlite3.connect(usage)) as db:
        return dict(db.execute(query))


def version_of(shelf: Shelf, skill_id: str) -> str:
    """Return the current version of a skill."""
    (row,) = shelf.db.query("SELECT version FROM versions WHERE skill_id = ?", [skill_id])
    return str(row["version"])


def test_content_of_a_skill_is_counted(site: Site, usage: Path) -> None:
    """Also if the client has it already (304), but not if it asks for the head alone."""
    for number, path in enumerate(
        ("files/SKILL.md", "files/scripts/run.py", "bundle.zip", "preview"), start=1
    ):
        etag = site.get(f"/skills/pdf/{path}").headers["etag"]
        known = {"If-None-Match": etag}
        assert site.ask("get", f"/skills/pdf/{path}", headers=known).status_code == 304
        assert site.ask("head", f"/skills/pdf/{path}").status_code == 200
        assert counted(site, usage) == {"pdf": 2 * number}, path


def test_a_read_has_its_version(site: Site, shelf: Shelf, usage: Path, skill: SkillWriter) -> None:
    """One of a superseded version counts for that."""
    old = version_of(shelf, "pdf")
    skill(shelf.root / "pdf", description="Something else.")
    shelf.scan()
    site.get(f"/skills/pdf/versions/{old}/files/SKILL.md")
    site.get("/skills/pdf/files/SKILL.md")
    site.write_counts()
    with closing(sqlite3.connect(usage)) as db:
        rows = db.execute("SELECT version, route, day, reads FROM reads").fetchall()
    today = database.today().isoformat()
    assert {row[1:] for row in rows} == {("http", today, 1)}
    assert old in {row[0] for row in rows}
    assert len(rows) == 2


NO_READS = (
    "/",
    "/skills/pdf",
    "/skills/pdf/view/SKILL.md",
    "/skills/pdf/files/nothing",
    "/skills/nothing/files/SKILL.md",
    "/index/nothing",
    "/index/default",
    "/index/default.meta.json",
    "/.well-known/agent-skills/index.json",
    "/search.json?q=pdf",
    "/-/healthz",
    "/-/metrics",
)


def test_pages_errors_and_health_are_no_reads(site: Site, usage: Path) -> None:
    """Names that do not exist never enter the database."""
    for path in NO_READS:
        site.get(path)
        assert counted(site, usage) == {}, path


def test_the_page_of_a_skill_says_how_often_it_was_read(site: Site, usage: Path) -> None:
    """In one line, once there is something to say."""
    assert "No read is counted yet." in site.get("/skills/pdf").text
    today = database.today()
    long_ago = (today - timedelta(days=100)).isoformat()
    database.add(usage, {SkillRead("pdf", "v1", "mcp", long_ago): 5}, today)
    assert f"Not read in 30 days; last on {long_ago}." in site.get("/skills/pdf").text
    database.add(usage, {SkillRead("pdf", "v2", "mcp", today.isoformat()): 1}, today)
    site.get("/skills/pdf/files/SKILL.md")
    site.write_counts()
    assert "2 reads in 30 days, of 2 versions." in site.get("/skills/pdf").text


def test_the_queries_find_what_nobody_and_what_everybody_reads(
    site: Site, shelf: Shelf, usage: Path, skill: SkillWriter
) -> None:
    """Never read, read most, and read though superseded."""
    today = database.today()
    old = version_of(shelf, "pdf")
    skill(shelf.root / "pdf", description="Something else.")
    shelf.scan()

    def on(days: int) -> str:
        return (today - timedelta(days=days)).isoformat()

    with closing(sqlite3.connect(shelf.settings.catalog_path)) as db:
        db.execute(
            "UPDATE versions SET superseded_at = ? WHERE version = ?", [f"{on(9)}T12:00", old]
        )
        db.commit()
    database.add(
        usage,
        {
            SkillRead("pdf", old, "http", on(9)): 1,  # on the day of the change
            SkillRead("pdf", old, "http", on(8)): 2,
            SkillRead("pdf", old, "mcp", on(1)): 3,
            SkillRead("csv", "v1", "command", on(91)): 7,
        },
        today,
    )
    assert [(row["skill"], row["last_read"]) for row in site.rows("never_read")] == [
        ("csv", on(91))
    ]
    assert site.rows("never_read", days="92") == []
    assert [row["skill"] for row in site.rows("never_read", days="1")] == ["csv", "pdf"]
    (row,) = site.rows("read_most")
    assert (row["skill"], row["reads"], row["by_http"], row["by_mcp"]) == ("pdf", 6, 3, 3)
    assert [row["skill"] for row in site.rows("read_most", days="100")] == ["csv", "pdf"]
    (row,) = site.rows("read_though_superseded")
    assert (row["version"], row["reads"], row["last_read"]) == (old, 5, on(1))
    assert row["current_version"] not in (old, None)


def test_nothing_is_counted_if_the_setting_says_so(
    shelf: Shelf, usage: Path, serve: Callable[..., Site]
) -> None:
    """Neither a file, a line on a page nor a query is there, even over an older database."""
    site = serve(shelf.settings.catalog_path, usage=False)
    site.get("/skills/pdf/files/SKILL.md")
    assert not usage.exists()
    database.prepare(usage)
    off = serve(shelf.settings.catalog_path, usage=False)
    assert "30 days" not in off.get("/skills/pdf").text
    assert [off.get(f"/catalog/{name}").status_code for name in QUERIES] == [404, 404, 404]


def test_a_database_that_cannot_be_made_breaks_nothing(
    shelf: Shelf, usage: Path, serve: Callable[..., Site], caplog: pytest.LogCaptureFixture
) -> None:
    """One line of the log says so, and skills are read as ever."""
    usage.mkdir()
    with caplog.at_level(logging.WARNING):
        site = serve(shelf.settings.catalog_path)
    assert site.get("/skills/pdf/files/SKILL.md").status_code == 200
    assert site.get("/skills/pdf").status_code == 200
    assert [record.message for record in caplog.records] == [
        f"Reads are not counted: {usage}: unable to open database file"
    ]


def test_a_locked_database_delays_no_read(site: Site, usage: Path) -> None:
    """Counts wait in memory, and pages show the older ones."""
    with closing(sqlite3.connect(usage, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        assert site.get("/skills/pdf/files/SKILL.md").status_code == 200
        assert "No read is counted yet." in site.get("/skills/pdf").text
    assert counted(site, usage) == {"pdf": 1}


@pytest.mark.parametrize(
    "path",
    [
        "/.well-known/skills/pdf/scripts/run.py",
        "/skills/pdf/.well-known/agent-skills/pdf/SKILL.md",
    ],
)
def test_files_below_a_discovery_index_are_counted(site: Site, usage: Path, path: str) -> None:
    """Installers fetch them there."""
    assert site.get(path).status_code == 200
    assert counted(site, usage) == {"pdf": 1}
