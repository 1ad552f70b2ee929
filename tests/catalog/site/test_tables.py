"""Datasette's pages of the catalog in readable form."""

import re
from contextlib import closing
from pathlib import Path

import pytest

from catalog.site.http import security_headers
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged
from tests.support.sites import Site


def test_a_page_of_skills_has_its_main_columns(site: Site) -> None:
    """All of them are a link away, and JSON has them anyhow."""

    def columns(asked: str) -> list[str]:
        return re.findall(r'<th [^>]*data-column="(\w+)"', site.get(f"/catalog/skills{asked}").text)

    assert columns("") == [
        "id",
        "skill_id",
        "description",
        "status",
        "level",
        "spec_valid",
        "has_scripts",
        "license",
        "tags",
        "last_changed",
    ]
    assert columns("?status=active") == columns("")
    assert columns("?_col=name") == ["id", "name"]
    assert len(columns("?_nocol=level_rank")) > 30
    assert "frontmatter" in site.rows("skills")[0]


@pytest.mark.parametrize(
    ("page", "shown"),
    [
        ("/catalog/skills?_col=tags&name=word-count", "[&#34;text&#34;,&#34;writing&#34;]"),
        ("/catalog/skills?name=word-count", '<a href="/skills/word-count">word-count</a>'),
        ("/catalog/findings?code=field-unknown", '<a href="/findings/field-unknown">'),
        ("/catalog/ingestions", '">2026-11-20 12:00:00</time>'),
        ("/catalog/files?path=scripts/run.py&_size=1", ">9 bytes</td>"),
        ("/catalog/scans", ">1.23 s</td>"),
        ("/catalog/why_not_in_the_index?skill=gone", '<a href="/catalog/skills/8">8</a>'),
        ("/catalog/why_not_in_the_index?skill=zz-l", "allows only levels enterprise."),
    ],
)
def test_a_cell_is_shown_as_a_person_reads_it(site: Site, page: str, shown: str) -> None:
    """Amounts and times in words, and names as the way to their page; JSON as it is."""
    assert shown in site.get(page).text


def test_no_cell_is_markup(site: Site, catalog: Path) -> None:
    """Cells stay text, whatever a skill's name is."""
    store = Store.open(catalog)
    store.apply(
        [judged("odd", '["<b>', license='{"<i>'), judged("deep", tags=("<u>a</u>",))],
        trigger="event",
        at=NOON,
    )
    store.close()
    page = site.get("/catalog/skills", _nocol="level_rank").text
    for markup in ('<b>"', "<i>", "<u>a"):
        assert markup not in page
    assert "&lt;u&gt;a" in page


def test_datasettes_scripts_run_and_no_others(site: Site) -> None:
    """Its pages keep a policy that names each script of theirs by its hash."""
    response = site.get("/catalog/skills")
    policy = response.headers["content-security-policy"]
    assert policy == security_headers.DATASETTE
    for script in re.findall(r"<script>(.*?)</script>", response.text, re.DOTALL):
        assert security_headers._hash(script.encode()) in policy
    assert "'unsafe-inline'" not in policy.partition("script-src")[2].partition(";")[0]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("newest_skills", {"word-count", "会议纪要", "secret", "zz-large", "dup", "worse"}),
        ("largest_skills", {"word-count", "会议纪要", "secret", "zz-large", "dup", "worse"}),
        ("with_scripts", {"word-count", "会议纪要", "secret", "zz-large", "dup", "worse"}),
    ],
)
def test_queries_list_skills(site: Site, query: str, names: set[str]) -> None:
    """Each names the skills that can be had now."""
    assert {row["name"] for row in site.rows(query)} == names


def test_the_same_content_is_found(site: Site, catalog: Path) -> None:
    """An auditor sees which folders are copies."""
    store = Store.open(catalog)
    store.apply(
        [judged("copies/word", name="same"), judged("other/word", name="same")],
        trigger="event",
        at=NOON,
    )
    store.close()
    (row,) = [row for row in site.rows("same_content") if row["names"] == "same"]
    assert row["same"] == "all files"
    assert set(row["paths"].split("\n")) == {f"{ROOT}/copies/word", f"{ROOT}/other/word"}


def test_what_indexes_lack_is_counted(site: Site) -> None:
    """For each index, with the reason."""
    rows = {row["index"]: row for row in site.rows("cut_from_indexes")}
    assert rows["default"]["hidden"] == 1
    assert rows["company"]["filtered"] == 4
    assert rows["default"]["chars"] <= 500


@pytest.mark.parametrize(("author", "codes"), [("word-c", ["field-unknown"]), ("nobody", [])])
def test_an_author_sees_the_findings(site: Site, author: str, codes: list[str]) -> None:
    """The query matches a part of a skill's name, folder or author."""
    assert [row["code"] for row in site.rows("my_findings", author=author)] == codes


def test_a_row_is_read_from_top_to_bottom(site: Site) -> None:
    """Each column has its description, and the page links to the rows that refer to it."""
    page = site.get("/catalog/skills/1").text
    assert re.search(r'"row">description<span>Its purpose and[^<]*</span></th><td>Counts', page)
    assert '<a href="/catalog/findings?skill=1">1 of findings</a>' in page
    assert "0 of" not in page


def test_a_page_of_rows_can_be_exported_whole(site: Site) -> None:
    """All pages as one file, by the form below the rows."""
    page = site.get("/catalog/skills", _size=2).text
    assert '<input type="checkbox" name="_stream" checked> all pages' in page
    assert len(site.get("/catalog/skills.csv", _size=2, _stream=1).text.splitlines()) == 12
    assert "Column descriptions" in page


def test_the_tables_go_by_their_titles(site: Site) -> None:
    """Each table and query has its description."""
    page = site.get("/catalog").text
    assert '<a href="/catalog/index_builds">Publications of indexes</a>' in page
    assert "Publications of indexes, with the published texts." in page
    assert '<a href="/catalog/what_changed">' in page
    assert "Type a number of days" in page
    assert "skills_fts" not in page


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/catalog/nothing", 404, "Table not found"),
        ("/catalog/nothing/1", 404, "Table not found: nothing"),
        ("/catalog/-/query?sql=select+1", 404, "Table not found: -"),
        ("/catalog/skills/999999", 404, "Record not found"),
        ("/catalog/skills?_size=none", 400, "_size must be a positive integer"),
    ],
)
def test_an_error_of_datasette_wears_our_frame(
    site: Site, path: str, status: int, said: str
) -> None:
    """The page names the error and links to other pages."""
    response = site.get(path)
    assert response.status_code == status
    assert said in response.text
    assert "/-/skilldrop/tables.css?" in response.text
    assert '<a href="/skills">All skills</a>' in response.text


@pytest.mark.parametrize("path", ["/catalog/nothing/1.json", "/catalog/-/query.json?sql=select+1"])
def test_a_missing_table_is_not_found_as_json(site: Site, path: str) -> None:
    """A row of a table that does not exist is a 404, not invalid SQL."""
    response = site.get(path)
    assert response.status_code == 404
    assert response.json()["status"] == 404


@pytest.mark.requirement("card/read-only")
@pytest.mark.parametrize(
    "path", ["/catalog", "/catalog/skills", "/catalog/skills/1", "/catalog/what_changed"]
)
def test_the_tables_are_read_only(site: Site, path: str) -> None:
    """Another request is refused in a sentence and is no bug."""
    for method in ("post", "put", "delete"):
        response = site.ask(method, path)
        assert response.status_code == 405
        assert response.headers["allow"] == "GET, HEAD, OPTIONS"
        assert response.headers["content-security-policy"] == security_headers.INERT


def test_a_bug_shows_no_one_its_inside(own_site: Site) -> None:
    """Only the log has the details."""

    def broken(*_: object) -> None:
        raise ZeroDivisionError("the inside")

    own_site.get("/")  # now the templates have their words
    own_site.datasette.jinja_env.globals["cell_html"] = broken
    response = own_site.get("/catalog/skills")
    assert response.status_code == 500
    assert "Internal error" in response.text
    assert "the inside" not in response.text


def test_a_skill_without_a_page_is_no_link(site: Site, catalog: Path) -> None:
    """A link may be to a skill that is here no more."""
    with closing(Store.open(catalog)) as store:
        store.db.execute(
            "INSERT INTO linked_directories (id, path, origin, filter)"
            " VALUES (1, '/l', 'data', '{}')"
        )
        for skill_id in ("word-count", "nobody"):
            store.db.execute(
                "INSERT INTO links (directory, name, skill_id, target) VALUES (1, ?1, ?1, '/t')",
                [skill_id],
            )
    shown = site.get("/catalog/links").text
    assert '<a href="/skills/word-count">word-count</a>' in shown
    assert 'href="/skills/nobody"' not in shown
    assert "nobody" in shown
