"""Newest change, by which an open page notices that it is old."""

import re
from contextlib import closing
from html import unescape
from pathlib import Path
from typing import Any

from catalog.writing.store import Store
from tests.support.records import NOON, judged
from tests.support.sites import Site


def test_a_change_of_one_skill_is_news_for_its_page_and_the_lists(
    site: Site, catalog: Path
) -> None:
    """Not for the page of another one, whose client gets 304 again."""
    asked = {about: f"/-/state.json?about={about}" for about in ("skill:word-count", "skill:dup")}
    asked[""] = "/-/state.json"
    before = {about: site.get(path) for about, path in asked.items()}
    with closing(Store.open(catalog)) as store:
        store.apply([judged("word-count", "Counts all words.")], trigger="event", at=NOON)
    now = {
        about: site.ask("get", path, headers={"If-None-Match": before[about].headers["etag"]})
        for about, path in asked.items()
    }
    assert {about: answer.status_code for about, answer in now.items()} == {
        "skill:word-count": 200,
        "skill:dup": 304,
        "": 200,
    }
    newest = now[""].json()["newest_change"]
    assert newest == now["skill:word-count"].json()["newest_change"]
    assert newest > before[""].json()["newest_change"]
    page = site.get("/skills/word-count").text
    assert f'data-live="/-/state.json?about=skill%3Aword-count" data-newest="{newest}"' in page


def test_the_poll_of_an_open_page_stays_below_the_prefix(prefixed_site: Site) -> None:
    """A proxy shows the site under /pre/."""
    assert poll(prefixed_site, "/skills/word-count", under="/pre/-/state.json")["newest_change"]


def test_the_page_of_health_learns_of_another_state(site: Site) -> None:
    """It knows the state that it shows; other pages do not look at it."""
    assert 'data-health="quiet"' in site.get("/health").text
    assert poll(site, "/health", under="/-/state.json")["health"] == "quiet"
    assert "data-health" not in site.get("/skills").text


def poll(site: Site, path: str, *, under: str) -> dict[str, Any]:
    """Return the answer that the script of a page gets, which the page knows already."""
    found = re.search(r'data-live="([^"]*)" data-newest="(\d+)"', site.get(path).text)
    assert found
    assert found[1].startswith(under)
    answer = site.ask("get", unescape(found[1]).removeprefix("/pre"))
    assert answer.status_code == 200
    state: dict[str, Any] = answer.json()
    assert 0 < state["newest_change"] <= int(found[2])
    return state
