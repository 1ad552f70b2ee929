"""Newest change, by which an open page notices that it is old."""

from contextlib import closing
from pathlib import Path

import pytest

from catalog.site.http import header_health
from catalog.writing.store import Store
from tests.support.records import NOON, judged
from tests.support.sites import Site


def test_a_change_of_one_skill_is_news_for_its_page_and_the_lists(
    site: Site, catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not for the page of another one, whose client gets 304 again."""
    monkeypatch.setattr(header_health, "SECONDS", -1.0)
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
