"""Endpoints for programs."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from catalog.database import connection
from catalog.reading.search import word_search
from catalog.writing.store import Store
from tests.support.records import NOON, judged
from tests.support.sites import Site


def test_the_search_is_the_one_of_the_command_line(site: Site, catalog: Path) -> None:
    """The same skills in the same order, each with the page that shows it."""
    db = connection.open_catalog(catalog)
    expected = [hit.name for hit in word_search.search(db, "counts").hits]
    db.conn.close()
    body = site.get("/search.json", q="counts").json()
    assert [hit["name"] for hit in body] == expected
    assert {site.get(hit["url"]).status_code for hit in body} == {200}
    assert len(site.get("/search.json", q="counts", limit="1").json()) == 1


@pytest.mark.parametrize("words", ["会议", "AND (", '"', "*", "a:b", "NEAR(", "\ud800", "%", "\0"])
def test_nothing_typed_is_an_error(site: Site, words: str) -> None:
    """Neither in the page nor for programs."""
    for path in ("/search.json", "/skills"):
        asked = words.encode("utf-8", "surrogatepass")
        assert site.get(path, q=asked).status_code == 200


@pytest.mark.requirement("prd/preview-content", "prd/preview-inventory", "prd/preview-fields")
def test_a_preview_has_content_and_inventory(site: Site) -> None:
    """One response replaces queries of six tables."""
    body = site.get("/skills/word-count/preview").json()
    assert body["skill_md_content"].startswith("---\nname: word-count\n")
    assert body["fileInventory"]["scriptFiles"] == ["scripts/run.py"]
    assert [file["path"] for file in body["files"]] == ["SKILL.md", "scripts/run.py"]
    assert body["findings"][0]["code"] == "field-unknown"
    assert {index["name"]: index["state"] for index in body["indexes"]} == {
        "default": "full",
        "company": "filtered",
    }
    assert site.get("/skills/nobody/preview").status_code == 404


@pytest.mark.requirement("prd/preview-identity", "prd/preview-version", "prd/preview-active")
def test_a_preview_has_the_fields_of_the_product_specification(site: Site) -> None:
    """They are those of its view, with an object and a boolean."""
    body = site.get("/skills/word-count/preview").json()
    (row,) = site.get("/catalog/skill_definitions.json?_shape=array&skillId=word-count").json()
    assert (body["isActive"], body["fileInventory"]) == (True, json.loads(row["fileInventory"]))
    same = row.keys() - {"isActive", "fileInventory"}
    assert {key: body[key] for key in same} == {key: row[key] for key in same}
    assert row["currentVersion"] == body["version"]


@pytest.mark.requirement("own/preview-json")
def test_the_address_of_a_skill_with_json_at_its_end_is_json(site: Site) -> None:
    """Also where there is no such skill."""
    assert site.get("/skills/word-count.json").json()["skillId"] == "word-count"
    missing = site.get("/skills/nobody.json")
    assert (missing.status_code, missing.json()["ok"]) == (404, False)


@pytest.mark.parametrize(
    ("age", "stopped", "needs_attention"),
    [
        pytest.param(1, None, False, id="alive"),
        pytest.param(100, None, True, id="killed or stuck"),
        pytest.param(100, "2026-11-20T12:00:00+00:00", False, id="stopped in order"),
    ],
)
def test_health_is_a_field(
    site: Site, catalog: Path, age: int, stopped: str | None, *, needs_attention: bool
) -> None:
    """A load balancer learns that the site serves, a monitor whether somebody is needed."""
    store = Store.open(catalog)
    store.set_health(
        service_pid=1,
        service_seen=datetime.now(UTC) - timedelta(seconds=age),
        service_stopped=stopped,
        watcher_mode="native",
    )
    response = site.get("/-/healthz")
    store.close()
    assert (response.status_code, response.json()["status"]) == (200, "ok")
    assert response.json()["needs_attention"] == needs_attention
    assert response.json()["health"]["watcher_mode"] == "native"
    assert response.headers["cache-control"] == "no-store"


def test_a_root_that_cannot_be_read_is_no_health(site: Site, catalog: Path) -> None:
    """A share that is not mounted is for the operator to know."""
    store = Store.open(catalog)
    store.roots.set_trouble("/company", "No such file or directory")
    store.close()
    response = site.get("/-/healthz")
    assert (response.status_code, response.json()["needs_attention"]) == (200, True)
    (trouble,) = response.json()["troubles"]
    assert (trouble["part"], trouble["message"]) == ("root", "company: No such file or directory")


def test_a_word_that_no_skill_has_is_reported(site: Site) -> None:
    """On the page in a sentence, and with the JSON in a header; the other words still match."""
    words, said = "counts xyzzy " * 500, "No published skill contains 'xyzzy'."
    response = site.get("/search.json", q=words)
    assert response.json()
    assert response.headers["x-search-note"] == said
    assert said.replace("'", "&#39;") in site.get("/skills", q=words).text
    assert "x-search-note" not in site.get("/search.json", q="counts").headers


def test_json_has_filters_pages_and_the_others_of_a_name(site: Site) -> None:
    """A skill that is not active has the address of its own row."""
    (hit,) = site.get("/search.json", q="words", status="shadowed").json()
    assert (hit["name"], hit["status"], hit["url"]) == (
        "dup",
        "shadowed",
        f"/skills/dup?row={hit['id']}",
    )
    assert hit["others"] == {"count": 1, "first": ["http://localhost/skills/dup?row=6"]}
    assert hit["location"] == f"http://localhost/skills/dup?row={hit['id']}"
    assert [hit["name"] for hit in site.get("/search.json", license="MIT").json()] == ["word-count"]
    first = site.get("/search.json", q="words", limit=1)
    rest = site.get("/search.json", q="words", offset=first.headers["x-next-offset"])
    assert "x-next-offset" not in rest.headers
    assert first.json() + rest.json() == site.get("/search.json", q="words").json()


def test_a_word_is_a_beginning_while_somebody_types(site: Site, catalog: Path) -> None:
    """With `typing=1`; else it stands for itself, if a skill has it."""
    store = Store.open(catalog)
    store.apply([judged("a", "A port."), judged("b", "A portal.")], trigger="event", at=NOON)
    store.close()
    assert [hit["name"] for hit in site.get("/search.json", q="port").json()] == ["a"]
    assert len(site.get("/search.json", q="port", typing="1").json()) == 2


def test_an_unknown_parameter_is_an_error_in_json(site: Site) -> None:
    """A slip would otherwise be a filter that filters nothing."""
    response = site.get("/search.json", q="text", statu="active")
    assert response.status_code == 400
    assert response.json()["error"] == (
        "There is no parameter 'statu'; q has the words of a search. The closest are: status."
    )


def test_an_impossible_filter_is_an_error_in_json(site: Site) -> None:
    """Its sentence has the known values."""
    response = site.get("/search.json", q="words", status="gone")
    assert response.status_code == 400
    assert response.json()["error"].endswith("removed, all.")
    note = site.get("/search.json", q="words", tool="Bsh").headers["x-search-note"]
    assert note.startswith("No skill has the tool 'Bsh'; known: Bash, Bashful, Read.")


def test_a_catalog_that_became_corrupt_is_no_health(site: Site, catalog: Path) -> None:
    """The response is JSON and says why."""
    with catalog.open("r+b") as file:
        file.seek(100)
        file.write(b"rubbish" * 20_000)
    response = site.get("/-/healthz")
    assert response.status_code == 503
    assert response.json()["message"].startswith("The catalog cannot be read: ")


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"limit": "0"}, "The limit cannot be '0'; it is a number from 1 to 100."),
        ({"limit": "many"}, "The limit cannot be 'many'; it is a number from 1 to 100."),
        ({"offset": "-1"}, "The offset cannot be '-1'; it is a number from 0 to 999,999,999."),
        (
            {"sort": "price"},
            ("Results cannot be sorted by 'price'; known: relevance, updated, name, size, reads."),
        ),
        (
            {"safety": "fine"},
            "No skill has the safety 'fine'; known: danger, warning, info, clear.",
        ),
    ],
)
def test_what_a_search_cannot_do_is_said_in_a_sentence(
    site: Site, asked: dict[str, str], sentence: str
) -> None:
    """Instead of an answer to another question."""
    response = site.get("/search.json", q="words", **asked)
    assert (response.status_code, response.json()["error"]) == (400, sentence)


def test_a_search_has_several_values_of_a_filter_and_an_order(site: Site) -> None:
    """Any of the values is enough."""
    hits = site.get("/search.json?tag=text&tool=Bash&tool=Read&status=active&status=shadowed")
    assert [hit["name"] for hit in hits.json()] == ["word-count"]
    both = site.get("/search.json?status=active&status=shadowed&sort=name&q=count").json()
    names = [hit["name"] for hit in both]
    assert names == sorted(names)
    assert names.count("dup") == 2
