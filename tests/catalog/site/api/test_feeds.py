"""Atom feeds, by the rules of RFC 4287."""

import re
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest

from catalog.writing.store import Store
from pipeline.parsing.codes import UNQUOTED_COLON
from tests.support.records import NOON, judged
from tests.support.sites import Site

ATOM = "{http://www.w3.org/2005/Atom}"
FEEDS = ["/activity.atom", "/activity.atom?skill=word-count", "/activity.atom?source=company"]


def parsed(text: str) -> ElementTree.Element:
    """Return the feed; fail unless it has all that RFC 4287, section 4.1, requires."""
    feed = ElementTree.fromstring(text)
    assert feed.tag == f"{ATOM}feed"
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    entries = feed.findall(f"{ATOM}entry")
    for element in (feed, *entries):
        for name in ("id", "title", "updated"):
            assert len(element.findall(f"{ATOM}{name}")) == 1, name
        assert re.fullmatch(r"urn:uuid:[\da-f-]{36}", element.findtext(f"{ATOM}id") or "")
        updated = datetime.fromisoformat(element.findtext(f"{ATOM}updated") or "")
        assert updated.tzinfo
        links = {link.get("rel"): link.get("href", "") for link in element.findall(f"{ATOM}link")}
        assert links["alternate"].startswith("http://localhost/")
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len({*ids}) == len(ids)
    return feed


def titles(feed: ElementTree.Element) -> list[str]:
    """Return the titles of the entries."""
    return [entry.findtext(f"{ATOM}title") or "" for entry in feed.findall(f"{ATOM}entry")]


def summaries(feed: ElementTree.Element) -> list[str]:
    """Return the summaries of the entries."""
    return [entry.findtext(f"{ATOM}summary") or "" for entry in feed.findall(f"{ATOM}entry")]


@pytest.mark.parametrize("path", FEEDS)
def test_a_feed_is_valid_and_its_links_lead_somewhere(site: Site, path: str) -> None:
    """Also the one to itself."""
    response = site.get(path)
    assert response.headers["content-type"] == "application/atom+xml; charset=utf-8"
    feed = parsed(response.text)
    assert titles(feed)
    for link in feed.iter(f"{ATOM}link"):
        target = link.get("href", "").removeprefix("http://localhost")
        assert site.ask("get", target).status_code == 200, target
        assert link.get("rel") != "self" or target == path


def test_feeds_of_a_skill_and_of_a_source_have_only_their_changes(site: Site) -> None:
    """The feed of all has both."""
    skill, source = (
        titles(parsed(site.get(path).text))
        for path in ("/activity.atom?skill=word-count", "/activity.atom?source=company")
    )
    assert skill == ["word-count: added"]
    assert source == ["dup: added"]
    assert {*skill, *source} < {*titles(parsed(site.get("/activity.atom").text))}


@pytest.mark.parametrize("path", FEEDS)
def test_a_reader_with_the_newest_feed_gets_nothing_again(
    site: Site, catalog: Path, path: str
) -> None:
    """Until something changes; entries keep their ids."""
    first = site.get(path)
    known = {"If-None-Match": first.headers["etag"]}
    assert site.ask("get", path, headers=known).status_code == 304
    store = Store.open(catalog)
    changed = judged("word-count", "Counts.", author="company")
    store.apply([changed], trigger="event", at=NOON)
    store.close()
    second = site.ask("get", path, headers=known)
    assert second.status_code == 200
    old, new = (
        {entry.findtext(f"{ATOM}id") for entry in parsed(text.text).findall(f"{ATOM}entry")}
        for text in (first, second)
    )
    assert old < new


def test_hostile_names_stay_text(site: Site, catalog: Path) -> None:
    """Markup is escaped, and characters that XML forbids are written out."""
    store = Store.open(catalog)
    name = "a</title><script>\x0b\ufffe\u202e"
    store.apply([judged("hostile", name=name)], trigger="event", at=NOON)
    store.close()
    first = titles(parsed(site.get("/activity.atom").text))[0]
    assert first.startswith("a</title><script>")
    assert "\u202e" not in first


def test_a_present_version_names_the_clients_that_do_not_load_it(site: Site, catalog: Path) -> None:
    """With the line and the fix, in the feeds of its skill and of its source; not once mended."""
    path = "/activity.atom?source=maker"
    store = Store.open(catalog)
    colon = UNQUOTED_COLON.at(path="SKILL.md", line=3)
    found = judged("colon", "Counts: words.", author="maker", findings=[colon])
    store.apply([found], trigger="event", at=NOON)
    first = summaries(parsed(site.get(path).text))
    mended = judged("colon", "'Counts: words.'", author="maker")
    store.apply([mended], trigger="event", at=NOON)
    store.close()
    assert len(first) == 1
    assert "Not loaded by skills (npx), Google ADK" in first[0]
    assert "unquoted-colon in line 3. Put the value in quotes." in first[0]
    assert not any("Not loaded" in each for each in summaries(parsed(site.get(path).text)))


def test_pages_name_their_feed(site: Site) -> None:
    """Programs find it from the page; an unknown skill has none."""
    link = '<link rel="alternate" type="application/atom+xml" title="{}" href="{}">'
    skill = link.format("Changes of word-count", "/activity.atom?skill=word-count")
    assert skill in site.get("/skills/word-count").text
    everything = link.format("Changes of all skills", "/activity.atom")
    assert everything in site.get("/activity").text
    assert everything in site.get("/findings").text
    company = link.format("Changes of company", "/activity.atom?source=company")
    assert company in site.get("/activity?source=company").text
    assert site.get("/activity.atom?skill=nothing").status_code == 404
    assert titles(parsed(site.get("/activity.atom?source=nobody").text)) == []
