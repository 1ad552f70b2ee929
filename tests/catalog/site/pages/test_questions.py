"""Pages of the canned questions."""

import re
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml

from catalog.site.http import security_headers
from catalog.site.pages import questions
from catalog.usage import database
from catalog.writing.store import Store
from tests.support.paths import REPOSITORY
from tests.support.records import NOON, ODD, judged
from tests.support.sites import Site

QUERIES: dict[str, Any] = yaml.safe_load((REPOSITORY / "datasette-metadata.yml").read_text())[
    "databases"
]["catalog"]["queries"]


def test_every_question_has_a_page_with_a_form(site: Site) -> None:
    """Each field has a label, and the table with the SQL is one click away."""
    listing = site.get("/questions").text
    for name, query in QUERIES.items():
        assert query["title"] in listing, name
        response = site.get(f"/questions/{name}")
        assert response.status_code == 200, name
        if "page" in query:
            continue
        page = response.text
        assert response.headers["content-security-policy"] == security_headers.OURS
        fields = re.findall(r'<input id="(field-\w+)"', page)
        assert fields == [f"field-{field}" for field in query.get("params", ())], name
        assert [field for field in fields if f'<label for="{field}">' not in page] == []
        assert f"/catalog/{name}" in page, name
    assert site.get("/questions/nothing").status_code == 404


def test_columns_of_a_layout_are_those_of_the_query(site: Site) -> None:
    """No setting names a column that the query lacks."""
    for name, query in QUERIES.items():
        layout = query.get("layout", {})
        named = [layout.get(part) for part in ("title", "figure", "day")]
        named += [column for part in ("badges", "text", "more") for column in layout.get(part, ())]
        assert "page" in query or layout, name
        columns = site.get(f"/catalog/{name}.json").json()["columns"]
        assert {column for column in named if column} <= {*columns}, name


def test_an_answer_names_the_skill_with_reason_and_advice(site: Site) -> None:
    """The name is a link, also to a rejected folder."""
    page = site.get("/questions/why_not_in_the_index", skill="broken").text
    assert re.search(r'<a href="/skills/broken\?row=\d+">broken</a>', page)
    assert "It was rejected. There is no description." in page
    assert "<b>What to do:</b> Fix the errors in the findings" in page
    assert "/root/broken" not in page  # a root is named by its last part
    assert "root/broken" in page
    hostile = site.get("/questions/why_not_in_the_index", skill='"><b>x').text
    assert 'value="&#34;&gt;&lt;b&gt;x"' in hostile
    assert "No skill or folder of this name was ever seen" in hostile


def test_an_empty_answer_says_whether_anything_was_asked(site: Site) -> None:
    """Without a count of answers."""
    everything = site.get("/questions/memory_by_owner?owner=").text
    assert "There is nothing to list." in everything
    assert "0 answers" not in everything
    assert "Nothing matches." in site.get("/questions/memory_by_owner?owner=user:x").text


def test_findings_name_skills_as_people_do(site: Site, catalog: Path) -> None:
    """With the namespace before a colon, not as the identifier; their codes are explained."""
    with closing(Store.open(catalog)) as store:
        zoo = judged("zoo", plugin="red", findings=[ODD._replace(code="description-short")])
        store.apply([zoo], trigger="event", at=NOON)
    page = site.get("/questions/my_findings?author=zoo").text
    assert '<a href="/skills/red--zoo">red:zoo</a>' in page
    assert '<a class="badge" href="/findings/description-short">' in page


def test_a_question_about_one_skill_waits_for_its_name(site: Site) -> None:
    """All skills are shown to those who send the form empty."""
    assert "row-head" not in site.get("/questions/why_not_in_the_index").text
    page = site.get("/questions/why_not_in_the_index?skill=").text
    assert page.count('<p class="row-head">') > len(site.rows("skills"))


def test_changes_are_grouped_by_day(site: Site) -> None:
    """Each day is a heading; the default of a field is filled in."""
    page = site.get("/questions/what_changed", days=100_000).text
    assert page.count("Friday, 20 November 2026") == 1
    assert 'value="7"' in site.get("/questions/what_changed").text


def test_a_long_answer_has_pages(site: Site, catalog: Path) -> None:
    """Every skill is on one of them."""
    store = Store.open(catalog)
    many = [judged(f"many-{n:02}", f"Number {n}.") for n in range(questions.PAGE)]
    store.apply(many, trigger="event", at=NOON)
    store.close()
    pages = [site.get("/questions/newest_skills", page=number).text for number in (1, 2)]
    names = re.findall(r'href="/skills/many-(\d+)"', "".join(pages))
    assert sorted(names) == [f"{n:02}" for n in range(questions.PAGE)]
    assert "/questions/newest_skills?page=2" in pages[0]
    assert "Page 2 of 2" in pages[1]


def test_a_question_without_settings_has_a_page(own_site: Site) -> None:
    """An operator's query is laid out by its columns: the first one is the title of a row."""
    queries = own_site.datasette.metadata("queries", database="catalog")
    queries["mine"] = {"sql": "select name, 1234 as words from skills where name = :which"}
    queries["mine"]["params"] = ["which"]
    page = own_site.get("/questions/mine", which="word-count").text
    assert "<b>word-count</b>" in page
    assert "<dt>words</dt> <dd>1,234</dd>" in page
    assert "Other questions" in own_site.get("/questions").text


def test_reads_that_are_not_counted_are_said_in_a_sentence(
    catalog: Path, serve: Callable[..., Site]
) -> None:
    """The database of reads may be missing."""
    site = serve(catalog)
    database.path_of(catalog).unlink()
    assert "No reads are counted yet" in site.get("/questions/read_most").text
