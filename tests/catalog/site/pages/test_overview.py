"""Page of the activity."""

import re
import tomllib
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from catalog.model.errors import Trouble
from catalog.model.skill import SkillReference
from catalog.reading.findings import explanations
from catalog.text.humanize import iso
from catalog.usage import database
from catalog.usage.database import SkillRead
from catalog.writing.store import Store
from tests.support.paths import REPOSITORY
from tests.support.records import NOON, ROOT, judged, refused
from tests.support.sites import Site


def fill(catalog: Path) -> int:
    """Add a scan of many skills, and single changes on the next day; return the scan."""
    store = Store.open(catalog)
    scan = store.begin_scan("re-scan", NOON)
    found = [refused("bad-one"), *(judged(f"scanned-{n:03}", f"Has {n}.") for n in range(300))]
    store.apply(found, trigger="re-scan", at=NOON, scan=scan)
    store.finish_scan(scan, NOON, 80.0, 301, {"added": 300, "rejected": 1}, 0)
    for n in range(12):
        later = NOON + timedelta(days=1, minutes=n)
        change = judged(f"team/single-{n:02}", f"Is {n}.")._replace(started_at=iso(later))
        store.apply([change], trigger="event", at=later)
    store.close()
    return scan


def test_changes_stand_by_day_and_source(site: Site, catalog: Path) -> None:
    """New skills are named in one line; of a large scan, the rest is counted and one click away."""
    scan = fill(catalog)
    page = site.get("/activity").text
    newest, _, older = page.partition("Friday, 20 November 2026")
    assert "Saturday, 21 November 2026" in newest
    assert re.search(r'href="/sources/team">team</a> <span class="soft small">12 changes', newest)
    assert newest.count(">added</span>") == 1
    assert re.search(r'href="/sources/root">root</a> <span class="soft small">188 changes', older)
    assert f'113 more changes of <a href="/activity?scan={scan}">' in older
    assert (
        "301 folders: 300 added, 1 rejected, 0 unchanged" in site.get(f"/activity?scan={scan}").text
    )


def test_every_change_is_on_one_page(site: Site, catalog: Path) -> None:
    """Pages follow each other without a gap; those of a scan have all of it, rejections first."""
    scan = fill(catalog)
    path, names = f"/activity?scan={scan}", []
    while path:
        page = site.get(path).text
        names += re.findall(r'href="/skills/(scanned-\d+|bad-one)[?"]', page)
        link = re.search(r'href="([^"]+)" rel="next"', page)
        path = link[1].replace("&amp;", "&") if link else ""
    assert sorted(names) == ["bad-one", *(f"scanned-{n:03}" for n in range(300))]
    following = re.search(r'href="([^"]+)" rel="next"', site.get("/activity").text)
    assert following
    assert "scanned-" not in site.get(following[1].replace("&amp;", "&")).text


def test_changes_since_a_time_are_offered_and_told_in_words(site: Site, catalog: Path) -> None:
    """A wrong time is an error with what to write."""
    at = datetime.now(UTC)
    with closing(Store.open(catalog)) as store:
        for moment, text in ((at - timedelta(days=3), "One."), (at, "Two.")):
            change = judged("zoo", text, body=f"# {text}\n")._replace(started_at=iso(moment))
            store.apply([change], trigger="event", at=moment)
        store.apply([refused("bad-one")._replace(started_at=iso(at))], trigger="event", at=at)
    today, week = (site.get(f"/activity?since={age}").text for age in ("1d", "7d"))
    said = "description rewritten, +2 \u22122 lines in 1 file"
    assert (today.count("/skills/zoo"), week.count("/skills/zoo")) == (2, 3)
    assert f">{said}</a>" in today
    assert today.index("bad-one") < today.index("zoo")
    assert '<a href="/findings/description-missing">' in today
    assert said in site.get("/skills/zoo/versions").text
    assert said in site.get("/activity.atom").text
    front = site.get("/").text
    assert '<a href="/activity?since=1d"><b>2</b> changes today</a>' in front
    assert site.ask("get", "/activity?since=never").status_code == 400


def test_the_front_page_names_what_other_skills_use_most(site: Site, catalog: Path) -> None:
    """With the number of skills that refer to each, however often, without itself."""
    with closing(Store.open(catalog)) as store:
        for name, to in (("base", "base"), ("one", "base"), ("two", "base"), ("self", "self")):
            link = SkillReference("link", f"../{to}/SKILL.md", "SKILL.md", 5)
            change = judged(name, references=(link, link._replace(line=6)))
            store.apply([change], trigger="event", at=NOON)
    said = r'href="/skills/base#related">base</a> <span class="figure">by <b>2</b>'
    page = site.get("/").text
    assert re.search(said, page)
    assert 'href="/skills/self#related"' not in page


def test_sources_stand_by_root_and_are_found_by_words(site: Site, catalog: Path) -> None:
    """Each with its number in that root; the largest root comes first."""
    with closing(Store.open(catalog)) as store:
        for place, name in ((ROOT, "one"), ("/company", "two"), ("/company", "three")):
            change = judged(name, f"Does {name}.", author="Ann Bee", root=place)
            store.apply([change], trigger="event", at=NOON)
    page = site.get("/sources?q=ann").text
    found = re.findall(r'<b>(\w+)</b></span>|href="/sources/([^"]+)".*?<b>(\d)</b>', page)
    assert [first or (name, n) for first, name, n in found] == [
        *("company", ("Ann%20Bee", "2")),
        *("root", ("Ann%20Bee", "1")),
    ]
    assert "No source matches." in site.get("/sources?q=nobody").text


def test_the_front_page_leads_to_who_shadows_whom(site: Site) -> None:
    """The list behind its link names the winner of each shadowed skill."""
    assert '<a href="/skills?status=shadowed">' in site.get("/").text
    listed = site.get("/skills?status=shadowed").text
    assert re.search(r"Shadowed by the enterprise skill in [^<]*company/dup", listed)


def test_a_moved_folder_is_told_with_both_places(site: Site, catalog: Path) -> None:
    """The name of a skill may be the same before and after."""
    with closing(Store.open(catalog)) as store:
        moved = judged("new/zoo", name="zoo")._replace(moved_from=(ROOT, "old/zoo"))
        store.apply([judged("old/zoo", name="zoo")], trigger="event", at=NOON)
        store.apply([moved], trigger="event", at=NOON)
    assert "folder moved from old/zoo to new/zoo" in site.get("/activity").text


def test_changes_of_one_name_say_their_folders(site: Site) -> None:
    """If several folders have it."""
    assert "company/dup ·" in site.get("/activity?skill=dup").text
    assert "root/word-count ·" not in site.get("/activity?skill=word-count").text


def test_the_most_read_skills_come_first(catalog: Path, serve: Callable[[Path], Site]) -> None:
    """With the routes, the days, and the number of skills that nobody read."""
    today = datetime.now(UTC).date()
    old = (today - timedelta(days=40)).isoformat()
    counts: dict[SkillRead, int] = {
        SkillRead("dup", "1", "http", today.isoformat()): 1,
        SkillRead("word-count", "1", "mcp", today.isoformat()): 4,
        SkillRead("word-count", "1", "http", today.isoformat()): 1,
        SkillRead("<b>gone", "1", "command", old): 1_000,
    }
    database.add(database.path_of(catalog), counts, today)
    site = serve(catalog)
    page = site.get("/usage").text
    assert "6 reads in 30 days" in page
    assert page.index(">word-count</a>") < page.index(">dup</a>")
    assert "4 over MCP, 1 over HTTP" in page
    assert page.count("<rect") == 30
    unread = re.search(r"(\d+) active skills not read in 30 days", page)
    assert unread
    assert int(unread[1]) == len(site.rows("never_read", days=30))
    assert "gone" not in page
    assert "&lt;b&gt;gone" in site.get("/usage?days=90").text


def test_without_counts_the_page_says_so(catalog: Path, serve: Callable[..., Site]) -> None:
    """A site may count none."""
    assert "Reads are not counted here" in serve(catalog, usage=False).get("/usage").text


def test_what_fails_is_said_with_what_to_do(site: Site, catalog: Path) -> None:
    """A running service with a failure is bad; a path is named by its root alone."""
    assert "No service is running." in site.get("/health").text
    now = iso(datetime.now(UTC))
    store = Store.open(catalog)
    failure = Trouble("scan", f"<i>{ROOT}/a cannot be read; run `ls`.", now, 3, now, now)
    store.set_health(
        service_pid=1,
        service_seen=now,
        service_stopped=None,
        watcher_mode="native",
        troubles=[failure],
    )
    store.close()
    page = site.get("/health").text
    assert "Needs attention." in page
    assert "The full scan: &lt;i&gt;root/a cannot be read; run <code>ls</code>." in page
    assert "Failed 3 times" in page


def test_every_state_of_the_documentation_is_explained(site: Site) -> None:
    """The tables of the page about problems, which the wheel has."""
    page = site.get("/health").text
    assert {"Service and events", "Work that fails"} <= {*explanations.states()}
    for title in explanations.states():
        assert f"<summary>{title}</summary>" in page
    assert page.count("<th>meaning</th>") == len(explanations.states())
    assert "].md" not in page
    build = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    places = build["targets"]["wheel"]["force-include"]
    assert places["docs/how-to/solve-problems.md"] == "catalog/reading/findings/solve-problems.md"


def test_a_source_is_one_however_its_name_is_written(site: Site, catalog: Path) -> None:
    """In the list, on its own page, and in its changes."""
    with closing(Store.open(catalog)) as store:
        for name, author in (("one", "Acme"), ("two", "ACME"), ("three", "acme")):
            change = judged(name, f"Does {name}.", author=author)
            store.apply([change], trigger="event", at=NOON)
    assert len(re.findall(r'href="/sources/acme"', site.get("/sources").text, re.I)) == 1
    assert "3 skills that agents get" in site.get("/sources/acme").text
    assert re.search(r'href="/sources/acme">acme <span class="n">3<', site.get("/").text, re.I)
    assert (
        len(re.findall(r'href="/skills/(?:one|two|three)"', site.get("/activity?source=Acme").text))
        == 3
    )
