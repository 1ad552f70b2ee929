"""Page of the versions that wait for review."""

import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

from catalog.model.finding import Finding
from catalog.model.skill import RootSpec
from catalog.site.pages import versions as review_page
from catalog.text.humanize import iso
from catalog.writing.decisions import Decision
from catalog.writing.store import Store
from tests.support.records import NOON, ROOT, judged, rooted
from tests.support.sites import Site


def fill(catalog: Path, *, decision: str = "") -> None:
    """Let new versions of a published and of a new skill wait, and decide on them."""
    store = Store.open(catalog)
    rooted(store, RootSpec(ROOT, review="always"), RootSpec("/company", "enterprise"))
    changed = judged(
        "word-count",
        "Counts lines.",
        body="See https://<b>Evil.example.org/x\n",
        allowed_tools="Read Write",
    )
    store.apply([changed, judged("new-one", "Is new.")], trigger="event", at=NOON)
    for name in ("word-count", "new-one") if decision else ():
        made = Decision(decision, "ana", iso(NOON), "<i>Why")  # type: ignore[arg-type]
        store.review(name, None, made)
    store.close()


def test_the_page_shows_what_is_new(site: Site, catalog: Path) -> None:
    """Tools, hosts and changed lines, against the version that agents get."""
    assert "Nothing waits for review." in site.get("/review").text
    fill(catalog)
    page = site.get("/review").text
    assert '<span class="badge odd">Write</span>' in page
    assert '<span class="badge odd">Read</span>' not in page
    assert "Counts words. Use when" in page  # a removed line
    assert "agents get no version of it" in page
    assert "skilldrop review approve word-count --version 2026" in page
    assert "https://&lt;b&gt;Evil" in page
    assert "<b>Evil" not in page
    assert "This page is empty." in site.get("/review?page=9").text


def test_a_finding_stands_below_its_line(site: Site, catalog: Path) -> None:
    """A link leads there; one of a line that the page does not show leads to the file."""
    store = Store.open(catalog)
    rooted(store, RootSpec(ROOT, review="dangers"), RootSpec("/company", "enterprise"))
    steals = Finding("data-sent-away", "danger", "safety", "It <b>sends.", "", path="SKILL.md")
    bad = judged("thief", findings=[steals._replace(line=5), steals._replace(line=99)])
    store.apply([bad], trigger="event", at=NOON)
    store.close()
    page = site.get("/review").text
    listed, lines = page.partition("All its files")[::2]
    assert "2 dangers" in listed
    links = re.findall(r'href="([^"]+)">SKILL.md:(\d+)</a>', listed)
    assert [line for _, line in links] == ["5", "99"]
    assert f'id="{unquote(links[0][0])[1:]}"' in lines
    assert re.fullmatch(r"/skills/thief/view/SKILL\.md\?.*line=99#L99", links[1][0])
    assert lines.count("It &lt;b&gt;sends.") == 1
    assert listed.count("It &lt;b&gt;sends.") == 1


def test_a_host_is_new_where_no_skill_has_it(site: Site, catalog: Path) -> None:
    """Those that other skills name, and those of namespaces, are no change that matters."""
    store = Store.open(catalog)
    rooted(store, RootSpec(ROOT, review="always"), RootSpec("/company", "enterprise"))
    known = judged("zz-large", "x" * 900, body="https://known.dev/a\n", allowed_tools="Bashful")
    store.apply([known], trigger="event", at=NOON)
    store.review("zz-large", None, Decision("approved", "ana", iso(NOON), ""))
    body = "https://known.dev/b https://unheard.dev http://www.w3.org/2000/svg\n"
    store.apply([judged("word-count", "Counts.", body=body)], trigger="event", at=NOON)
    store.close()
    page = site.get("/review").text
    assert re.findall(r'<span class="badge odd">([\w.]+\.\w+)</span>', page) == ["unheard.dev"]


def test_a_catalog_with_nothing_approved_says_so(
    tmp_path: Path, serve: Callable[[Path], Site]
) -> None:
    """It is not empty; the skills wait for a person."""
    store = Store.open(tmp_path / "catalog.db")
    rooted(store, RootSpec(ROOT, review="always"))
    store.apply([judged("first"), judged("second")], trigger="event", at=NOON)
    store.close()
    site = serve(tmp_path / "catalog.db")
    for path in ("/", "/skills"):
        page = site.get(path).text
        assert "No skill is approved yet." in page
        assert ">2 versions wait for review</a>" in page


def test_the_head_counts_what_waits(site: Site, catalog: Path) -> None:
    """Review is a place of the head only while something waits, also on tables."""
    number = 'Review <span class="n">2</span>'
    assert not any(">Review <" in site.get(path).text for path in ("/", "/catalog"))
    fill(catalog)
    assert all(number in site.get(path).text for path in ("/", "/catalog"))


def test_many_versions_share_pages(site: Site, catalog: Path) -> None:
    """Each page has a part of them."""
    store = Store.open(catalog)
    rooted(store, RootSpec(ROOT, review="always"), RootSpec("/company", "enterprise"))
    many = [judged(f"new-{n:02}", f"New {n}.") for n in range(review_page.REVIEWED + 1)]
    store.apply(many, trigger="event", at=NOON)
    store.close()
    first, second = (site.get(f"/review?page={n}").text for n in (1, 2))
    assert (first.count("<section"), second.count("<section")) == (review_page.REVIEWED, 1)
    assert 'rel="next"' in first
    assert 'rel="next"' not in second


def test_the_page_of_a_skill_tells_of_its_review(site: Site, catalog: Path) -> None:
    """Agents get the version before, which is shown; a new skill they do not get."""
    fill(catalog)
    page = site.get("/skills/word-count").text
    assert "waits for review</b>" in page
    assert "Counts words. Use when" in page
    new = site.get("/skills/new-one").text
    assert "Agents do not get this skill.</b> <b>Version" in new
    assert "Agents do not get it before" in new
    assert "Is new." in new


def test_the_page_of_a_skill_tells_of_a_decision(site: Site, catalog: Path) -> None:
    """With the name of the reviewer and the reason."""
    fill(catalog, decision="rejected")
    page = site.get("/skills/word-count").text
    assert "was rejected in review</b> by ana" in page
    assert "</time>: &lt;i&gt;Why." in page
    new = site.get("/skills/new-one").text
    assert "Agents do not get this skill.</b> <b>Version" in new
    assert "was rejected in review</b> by ana" in new
    assert "Nothing waits for review." in site.get("/review").text


def test_the_page_of_a_skill_tells_of_an_approval(site: Site, catalog: Path) -> None:
    """Beside its versions."""
    fill(catalog, decision="approved")
    assert "was approved in review by ana" in site.get("/skills/new-one").text


def test_agents_get_nothing_that_waits(site: Site, catalog: Path) -> None:
    """Neither in the search nor among the files nor in the discovery index."""
    fill(catalog)
    assert "new-one" not in site.get("/.well-known/agent-skills/index.json").text
    assert site.get("/skills/new-one/files/SKILL.md").status_code == 404
    assert "new-one" not in site.get("/search.json", q="new").text
