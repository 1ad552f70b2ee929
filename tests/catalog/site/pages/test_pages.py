"""The pages for people, as HTML."""

import re
from collections.abc import Callable
from contextlib import closing
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urljoin

import pytest

from catalog.model.skill import FileEntry
from catalog.reading.search import word_search
from catalog.site.http import security_headers
from catalog.site.server import app
from catalog.writing.store import Store
from tests.support.damaged_pages import PAGE, overwrite
from tests.support.records import NOON, ODD, ROOT, WRONG, judged
from tests.support.sites import DEFAULT, Site

PAGES = [
    "/",
    "/skills",
    "/skills?q=words",
    "/skills?q=nothing-has-this",
    "/skills?q=words&status=shadowed&license=none",
    "/skills/word-count",
    "/skills/word-count/view/SKILL.md",
    "/skills/word-count/view/scripts/run.py",
    "/skills/word-count/view/scripts",
    "/skills/word-count/versions",
    "/findings",
    "/findings/field-unknown",
    "/indexes",
    "/indexes/default",
    "/indexes/default/text",
    "/indexes/default/history",
    "/questions",
    "/usage",
    "/health",
    "/help",
    "/activity",
    "/activity?scan=1",
    "/activity?source=company",
    "/review",
    "/questions/same_content",
    "/questions/same_description",
    "/skills/word-count/similar",
]


class Links(HTMLParser):
    """Collector of the links and resources of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the addresses of a tag, but not those of every choice of filters."""
        self.found += (
            []
            if ("rel", "nofollow") in attrs
            else [value for name, value in attrs if name in {"href", "src", "action"} and value]
        )


@pytest.mark.parametrize("page", PAGES)
def test_a_page_answers_under_a_strict_policy(site: Site, page: str) -> None:
    """Only the site's script runs, nothing is loaded from elsewhere, and no referrer is sent."""
    response = site.get(page)
    assert response.status_code == 200
    assert response.headers["content-security-policy"] == security_headers.OURS
    assert response.headers["x-content-type-options"] == "nosniff"
    assert response.headers["referrer-policy"] == "no-referrer"
    assert not re.search(r"<script(?![^>]* src=)|<style| style=| on\w+=", response.text)
    assert '<html lang="en">' in response.text
    assert response.text.count("<h1") == 1


def test_every_link_leads_somewhere(site: Site) -> None:
    """No link that can be reached from the home page leads to an error."""
    seen, waiting = set(), ["/"]
    while waiting:
        page = waiting.pop()
        response = site.get(page)
        assert response.status_code == 200 or re.search("/files/|/index/|/bundle.zip", page), page
        ours = response.headers["content-security-policy"] == security_headers.OURS
        for link in Links(response.text).found if ours else []:
            target = urljoin(page, link.partition("#")[0])
            assert target.startswith("/"), f"{page} leads to {target}"
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    assert len(seen) > 60


@pytest.mark.parametrize(
    "page",
    [
        "/skills/nobody",
        "/skills/nobody/view/SKILL.md",
        "/skills/word-count/view/none.txt",
        "/findings/none",
        "/skills/word-count/versions/19700101-000000",
        "/skills/nobody/versions",
        "/indexes/none",
        "/skills/%E4%BC%9A%FF",
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(site: Site, page: str) -> None:
    """The page links back to other pages, without a redirect."""
    response = site.ask("get", page)
    assert response.status_code == 404
    assert "Not found" in response.text


def test_a_page_of_each_fate_says_what_to_do(site: Site) -> None:
    """Rejected, shadowed, pending and removed skills also have a page."""
    for skill, said in [
        ("broken", "It was rejected."),
        ("copying", "still changing"),
        ("gone", "Its folder was removed"),
        ("worse", "newest content of its folder was rejected"),
        ("secret", "disable-model-invocation"),
        ("zz-large", "Raise the budget"),
    ]:
        assert said in site.get(f"/skills/{skill}").text, skill
    rival = re.search(r'href="(/skills/dup\?row=\d+)"', site.get("/skills/dup").text)
    assert rival
    assert "shadowed by the enterprise skill" in site.get(rival[1]).text


def test_a_finding_stands_beside_its_line(site: Site) -> None:
    """The page of the file shows it right below its line, with the fix."""
    page = site.get("/skills/word-count/view/SKILL.md").text
    line = page.index('id="L4"')
    assert line < page.index("The field colour is unknown.") < page.index('id="L5"')
    assert "Remove it." in page


@pytest.mark.parametrize("code", ["description-missing", "dependency-missing"])
def test_a_kind_of_finding_is_explained(site: Site, code: str) -> None:
    """Its page has the source and examples, whether or not a skill has it."""
    page = site.get(f"/findings/{code}").text
    assert "<strong>Severity:</strong>" in page
    assert ("<strong>Source:</strong>" in page) == (code == "description-missing")
    assert ("No skill has this finding." in page) == (code == "dependency-missing")


def test_findings_of_other_content_stand_beside_no_line(site: Site) -> None:
    """Findings of a rejected update are not shown at lines of the last accepted version."""
    page = site.get("/skills/worse").text
    assert page.count("There is no description.") == 1
    assert "refer to the current content of the folder" in page
    source = site.get("/skills/worse/view/SKILL.md").text
    assert "There is no description." not in source
    assert "The folder has other content now" in source
    assert "/skills/worse/view/" not in site.get("/findings/description-missing").text


def test_an_empty_catalog_says_how_to_fill_it(
    tmp_path: Path, serve: Callable[[Path], Site]
) -> None:
    """A filter without results links back to all skills."""
    Store.open(tmp_path / "catalog.db").close()
    empty = serve(tmp_path / "catalog.db")
    assert "Put a folder with a SKILL.md" in empty.get("/skills").text
    assert empty.get("/indexes").status_code == 200


def test_a_rejected_skill_speaks_of_no_version(site: Site) -> None:
    """It has none, so its findings are simply its own, and it declares nothing."""
    page = site.get("/skills/broken").text
    assert "There is no description." in page
    assert "not of the version" not in page
    assert "Declared" not in page


def test_a_shadowed_skill_shows_itself_and_not_its_rival(site: Site) -> None:
    """Its links lead to its own files and versions, not to those of the active skill."""
    page = site.get("/skills/dup").text
    row = re.search(r"/skills/dup(\?row=\d+)", page)
    assert row
    shadowed = site.get(f"/skills/dup{row[1]}").text
    parts = [
        link
        for link in Links(shadowed).found
        if re.match(r"/skills/dup/(view|files|preview)", link)
    ]
    assert parts
    assert [link for link in parts if row[1] not in link] == []
    assert site.get(f"/skills/dup/preview{row[1]}").json()["root"] == Path(ROOT).name
    assert row[1] in site.get(f"/skills/dup/view/SKILL.md{row[1]}").text


def test_a_name_conflict_is_on_both_pages(site: Site, catalog: Path) -> None:
    """With the command that decides; not without a conflict."""
    assert "the same name</b>" not in site.get("/skills/zoo").text
    with closing(Store.open(catalog)) as store:
        for path in ("zoo", "other/zoo"):
            store.apply([judged(path, f"Is in {path}.")], trigger="event", at=NOON)
    page = site.get("/skills/zoo").text
    assert "1 other folder of this level with different content has the same name</b>" in page
    loser = re.search(r"/skills/zoo(\?row=\d+)", page)
    assert loser
    shadowed = site.get(f"/skills/zoo{loser[1]}").text
    assert f"skilldrop prefer {ROOT}/other/zoo</code>" in shadowed
    assert "the same name</b>" not in shadowed


@pytest.mark.parametrize("of", ["/skills/{}", "/skills/{}/preview"])
def test_a_skill_in_a_namespace_has_an_address_by_its_name(
    site: Site, catalog: Path, of: str
) -> None:
    """A whole name leads to it; a bare one that several have is answered with their names."""
    with closing(Store.open(catalog)) as store:
        for team in ("red", "blue"):
            found = judged(f"{team}/zoo", f"Of {team}.", name="zoo", plugin=team)
            store.apply([found], trigger="event", at=NOON)
    assert "Of red." in site.get(of.format("red:zoo")).text
    answer = site.get(of.format("zoo"))
    assert answer.status_code == 404
    assert "blue:zoo, red:zoo" in answer.text
    if of == "/skills/{}":
        assert re.findall(r'<li><a href="/skills/(\w+--zoo)">', answer.text) == [
            *("blue--zoo", "red--zoo")
        ]
    assert site.get(of.format("green:zoo")).status_code == 404


def test_no_finding_speaks_for_others_of_its_kind(site: Site, catalog: Path) -> None:
    """The list has the general words of a kind, and its page the message and fix of each skill."""
    other = ODD._replace(message="A is odd.", fix="Zap it.")
    store = Store.open(catalog)
    store.apply([judged("zoo", findings=[other])], trigger="event", at=NOON)
    store.close()
    listing = site.get("/findings").text
    assert "The field colour is unknown." not in listing
    assert "A is odd." not in listing
    assert "description is missing or blank." in listing
    page = site.get("/findings/field-unknown").text
    for name, message, fix in [
        ("word-count", "The field colour is unknown.", "Remove it."),
        ("zoo", "A is odd.", "Zap it."),
    ]:
        row = page.partition(f">{name}</a>")[2].partition("</li>")[0]
        assert message in row
        assert fix in row


def test_a_fix_of_the_rule_is_not_repeated_at_each_finding(site: Site, catalog: Path) -> None:
    """Nor does the fix of one finding stand for those that have the rule's."""
    rule = "Write it as fields, at least `name: …` and `description: …`."
    broken = ODD._replace(code="frontmatter-not-mapping", fix=rule)
    own = broken._replace(fix="Use `b`.")
    store = Store.open(catalog)
    store.apply(
        [judged("usual", findings=[broken]), judged("zoo", findings=[own])],
        trigger="event",
        at=NOON,
    )
    store.close()
    page = site.get("/findings/frontmatter-not-mapping").text
    assert page.count("Write it as fields") == 1
    assert page.partition(">zoo</a>")[2].count("Use <code>b</code>.") == 1
    assert "<b>What to do:</b>" not in page.partition(">zoo</a>")[0]


@pytest.mark.parametrize(
    ("frontmatter", "version"),
    [
        ({"metadata": {"version": "2.1"}, "version": "1"}, "2.1"),
        ({"version": 3}, "3"),
        ({"metadata": {"version": {"a": 1}}}, None),
        ({"metadata": "2.1"}, None),
    ],
)
def test_the_version_that_an_author_declares_is_named(
    site: Site, catalog: Path, frontmatter: dict[str, object], version: str | None
) -> None:
    """Beside that of the catalog, if it is a text or a number."""
    with closing(Store.open(catalog)) as store:
        store.apply([judged("zoo", frontmatter=frontmatter)], trigger="event", at=NOON)
    page = site.get("/skills/zoo").text
    shown = re.findall(r"<dt>Author's version</dt><dd>(.*?)</dd>", page)
    assert shown == ([version] if version else [])


@pytest.mark.filterwarnings("ignore:coroutine:RuntimeWarning")  # of Datasette, after an error
def test_a_damaged_catalog_is_said_on_tables_too(own_site: Site, catalog: Path) -> None:
    """With the way out, and as JSON to programs."""
    overwrite(catalog, [*range(2, catalog.stat().st_size // PAGE + 1)])
    for path in ("/skills", "/catalog", "/catalog/skills"):
        answer = own_site.get(path)
        assert (answer.status_code, "builds a new one from the roots" in answer.text) == (503, True)
    answer = own_site.get("/catalog/skills.json")
    assert (answer.status_code, answer.json()["ok"]) == (503, False)


def test_dangerous_findings_come_first(site: Site, catalog: Path) -> None:
    """Even before errors, which only reject."""
    danger = ODD._replace(code="payload-encoded", severity="danger", profile="safety")
    store = Store.open(catalog)
    store.apply([judged("zoo", findings=[danger])], trigger="event", at=NOON)
    store.close()
    page = site.get("/findings").text
    assert page.index("payload-encoded") < page.index("description-missing")
    assert page.index("description-missing") < page.index("field-unknown")


def test_chinese_is_found_and_shown(site: Site) -> None:
    """By two characters of its description, under its own name."""
    found = site.get("/skills", q="录音").text
    assert f'href="/skills/{quote("会议纪要")}"' in found
    assert "会议纪要" in site.get("/skills/会议纪要").text


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("", {"word-count", "会议纪要", "secret", "zz-large", "dup", "worse"}),
        ("level=enterprise", {"dup"}),
        ("tag=writing", {"word-count"}),
        ("status=removed", {"gone"}),
        ("page=2", set()),
        ("page=99999999999999999999", {"word-count"}),
    ],
)
def test_the_list_can_be_narrowed(site: Site, asked: str, names: set[str]) -> None:
    """By status, level, plugin and tag; rubbish narrows nothing."""
    page = site.get(f"/skills?{asked}").text
    found = set(re.findall(r'<h2><a href="[^"]*">([^<]*)</a>', page))
    assert names <= found
    assert bool(names) == bool(found)


def names_on(page: str) -> set[str]:
    """Return the names of the skills that a page lists."""
    return set(re.findall(r'<h2><a href="[^"]*">([^<]*)</a>', page))


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ({"license": "MIT"}, {"word-count"}),
        ({"tool": "Bash"}, {"word-count", "secret"}),
        ({"root": "company"}, {"dup"}),
        ({"status": "shadowed", "valid": "yes"}, {"dup"}),
        ({"q": "words", "tag": "writing"}, {"word-count"}),
        ({"q": "words", "status": "shadowed"}, {"dup"}),
        ({"q": "words", "changed_since": "2099-01-01"}, set()),
    ],
)
def test_filters_go_together_with_a_search(
    site: Site, asked: dict[str, str], names: set[str]
) -> None:
    """The search keeps them without script, each can be taken off, and other links keep them."""
    page = site.get("/skills", **asked).text
    assert names_on(page) == names
    for name, value in asked.items():
        field = rf'name="{name}" value="{value}"'
        assert re.search(field, page), name
        assert re.search(rf'href="/skills\?[^"]*{name}={value}', page), name
    assert page.count('title="Take this filter off"') == len(asked.keys() - {"q"})


def test_several_values_of_a_filter_widen_it(site: Site) -> None:
    """Any of them is enough, each can be taken off, and the numbers are those of the lists."""
    page = site.get("/skills?license=mit&license=none&status=active&status=shadowed").text
    assert names_on(page) == {"word-count"}
    for off in ("license=none&amp;", "license=mit&amp;", "status=active"):
        assert f'{off}"' in page or off in page
    for address, number in re.findall(
        r'href="(/skills[^"]*)" rel="nofollow"><.*?"n">([\d,]+)<', site.get("/skills").text
    ):
        total = re.search(r'<h1 id="title">([\d,]+) skill', site.get(unescape(address)).text)
        assert total
        assert total[1] == number or "status" in address, address


def test_a_search_shows_the_other_skills_of_a_name(site: Site) -> None:
    """With the place of the first ones and a link to all of them."""
    page = site.get("/skills", q="dup").text
    assert '<a href="/skills/dup#rivals">+1 other of this name</a>: /root/mine/dup' in page
    assert 'id="rivals"' in site.get("/skills/dup").text


def test_a_search_without_results_leads_on(site: Site) -> None:
    """To the nearest names, to the shadowed skills, or away from the filters."""
    assert 'q=word-count">word-count</a>' in site.get("/skills", q="qqqword-qcount").text
    page = site.get("/skills", q="words", license="GPL").text
    assert "No skill has the license &#39;GPL&#39;; known: MIT." in page
    assert 'href="/skills?q=words">Search without filters' in page
    assert "known: MIT." in site.get("/skills", license="GPL").text


def test_a_filter_that_cannot_be_is_said_in_a_sentence(site: Site) -> None:
    """With the values that it can have."""
    response = site.get("/skills", level="team")
    assert response.status_code == 400
    assert "known: enterprise, personal, project, plugin." in response.text


def test_further_results_are_on_further_pages(site: Site, catalog: Path) -> None:
    """A page links to the one before and the next."""
    store = Store.open(catalog)
    store.apply([judged(f"zebra-{n}", "Zebras.") for n in range(48)], trigger="event", at=NOON)
    store.close()
    first, second = (site.get("/skills", q="zebras", page=number).text for number in (1, 2))
    assert (len(names_on(first)), len(names_on(second))) == (24, 24)
    assert not names_on(first) & names_on(second)
    assert 'page=2" rel="next"' in first
    assert 'rel="next"' not in second
    assert '<a href="/skills?q=zebras" rel="prev"' in second


@pytest.mark.requirement("prd/list-description")
def test_a_search_lists_the_best_results_with_their_words(
    site: Site, catalog: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says if there are others, and the numbers of the filters are those of the listed ones."""
    store = Store.open(catalog)
    yaks = [judged(f"yak-{n}", "Yaks graze.", tags=("herd", "milk")) for n in range(3)]
    store.apply(yaks, trigger="event", at=NOON)
    store.close()
    page = site.get("/skills", q="yaks grazin").text
    assert ">3 results for" in page
    assert ">Found by: yaks, graze</p>" in page
    assert "best results" not in page
    monkeypatch.setattr(word_search, "CANDIDATES", 2)
    page = site.get("/skills", q="yaks grazin").text
    assert ">Best 2 results for" in page
    assert "The numbers are those of the best results." in page
    assert '>milk</span><span class="n">2<' in page


def test_a_search_says_where_relevance_ends(site: Site, catalog: Path) -> None:
    """Skills with a common word alone come after a line, and the heading does not count them."""
    store = Store.open(catalog)
    many = [
        judged(f"paper-{n}", "Handles paper, ink and folders for an office.") for n in range(40)
    ]
    store.apply([*many, judged("origami", "Folds paper cranes.")], trigger="event", at=NOON)
    store.close()
    page = site.get("/skills", q="fold origami cranes of paper").text
    assert ">1 result for" in page
    assert names_on(page) == {"origami"}
    (rest,) = re.findall(r'Relevance ends here. <a href="([^"]+)"[^>]*>40 further skills', page)
    page = site.get(rest.replace("&amp;", "&")).text
    before, ends, after = page.partition("Relevance ends here. 40 further skills have only some")
    assert ends
    assert ">41 results for" in page
    assert '/skills/origami"' in before
    assert "/skills/paper-" in after
    assert "/skills/paper-" not in before
    assert "Relevance ends" not in site.get("/skills", q="fold origami", all="1", sort="name").text


def test_a_filter_leaves_as_many_results_as_the_number_beside_it(site: Site, catalog: Path) -> None:
    """Relevance does not begin anew among the skills of a filter."""
    store = Store.open(catalog)
    described = {
        "best": ("Folds origami cranes of velvet paper.", ("art",)),
        "fits": ("Folds origami.", ("office",)),
        **{f"crane-{n}": ("Moves cranes.", ("office",)) for n in range(3)},
        **{f"wood-{n}": ("Saws wood.", ("wood",)) for n in range(9)},
    }
    skills = [judged(name, told[0], tags=told[1]) for name, told in described.items()]
    store.apply(skills, trigger="event", at=NOON)
    store.close()
    asked = {"q": "fold origami cranes of velvet paper"}
    assert '>office</span><span class="n">1<' in site.get("/skills", **asked).text
    page = site.get("/skills", **asked, tag="office").text
    assert names_on(page) == {"fits"}
    assert ">office</span></a>" in page


def test_a_search_shows_the_line_with_the_most_words(site: Site, catalog: Path) -> None:
    """It may stand in the instructions, and then follows the description."""
    store = Store.open(catalog)
    body = "# Steps\n\nSteam the velvet collar with a damp cloth.\n"
    store.apply([judged("tailor", "Mends a collar.", body=body)], trigger="event", at=NOON)
    store.close()
    page = site.get("/skills", q="velvet collar damp").text
    assert "Mends a <mark>collar</mark>.</p>" in page
    assert ">Steam the <mark>velvet</mark> <mark>collar</mark> with a <mark>damp</mark>" in page


def test_a_name_is_suggested_by_its_words(site: Site, catalog: Path) -> None:
    """Before names with similar letters."""
    store = Store.open(catalog)
    names = ("vercel-react-best-practices", "redis-test-practices", "react-native", "practices")
    store.apply([judged(name) for name in names], trigger="event", at=NOON)
    store.close()
    page = site.get("/skills/react-best-practices").text
    near = page.partition("Did you mean?")[2]
    assert re.findall(r'href="/skills/([\w-]+)"', near)[0] == "vercel-react-best-practices"


def test_a_version_shows_what_it_changed(site: Site, catalog: Path) -> None:
    """Line by line against the one before it."""
    store = Store.open(catalog)
    store.apply(
        [judged("word-count", "Counts words.", body="# Steps\n\nNew line.\n")],
        trigger="event",
        at=NOON.replace(hour=13),
    )
    store.close()
    page = site.get("/skills/word-count").text
    newest = re.search(r'href="(/skills/word-count/versions/[^"]+)"', page)
    assert newest
    shown = site.get(newest[1]).text
    assert re.search(r'class="line add">.*New line\.', shown)
    assert re.search(r'view/SKILL.md\?version=[\d-]+&amp;line=\d+#L\d+"', shown)
    assert "@@" not in shown
    assert "1 file." in shown


def test_a_version_says_what_may_be_executed(site: Site, catalog: Path) -> None:
    """Though not a byte of the file differs."""
    store = Store.open(catalog)
    mode = (
        FileEntry("SKILL.md", 1, "0" * 64, 0o644, "skill_md", True),
        FileEntry("scripts/run.py", 9, "1" * 64, 0o644, "script", True, "print(1)\n"),
    )
    for hour, bits in ((13, 0o644), (14, 0o755)):
        store.apply(
            [judged("mode", files=(mode[0], mode[1]._replace(mode=bits)), digest=f"sha256:{hour}")],
            trigger="event",
            at=NOON.replace(hour=hour),
        )
    store.close()
    newest = re.search(r'href="(/skills/mode/versions/[^"]+)"', site.get("/skills/mode").text)
    assert newest
    assert "The file is now executable." in site.get(newest[1]).text


def store_skill_of(text: str, skill_id: str, ending: str, catalog: Path) -> FileEntry:
    """Store a skill with a text in all fields, findings and the name of the returned file."""
    file = FileEntry(f"{text[:20]}{ending}", 9, "1" * 64, 0o644, "asset", True, text)
    verdict = judged(
        skill_id,
        f"Harmless {text}",
        name=text,
        body=f"# {text}\n\n`{text}`\n",
        files=(FileEntry("SKILL.md", 1, "0" * 64, 0o644, "skill_md", True), file),
        license=text,
        tags=(text,),
        author=text,
        skill_id=skill_id,
        display_name=text,
        priority=0.9,
        findings=[WRONG.__class__(text, "error", text, text, text, path=text, line=1)],
    )
    with closing(Store.open(catalog)) as store:
        store.apply([verdict], trigger="event", at=NOON)
        store.publish_indexes([DEFAULT], catalog.parent / "index", NOON)
    return file


def test_skills_cannot_put_markup_anywhere(site: Site, catalog: Path) -> None:
    """Names, descriptions, file names, findings and texts are words, whatever they hold."""
    evil = '"><script>alert(1)</script>'
    file = store_skill_of(evil, "evil", ".html", catalog)
    for page in (
        "/",
        "/skills",
        "/skills?q=alert",
        "/skills/evil",
        "/skills/evil/view/SKILL.md",
        f"/skills/evil/view/{quote(file.path, safe='')}",
        "/findings",
        "/activity",
        f"/findings/{quote(evil, safe='')}",
        "/indexes/default",
        "/catalog/skills",
    ):
        response = site.get(page)
        assert response.status_code == 200, page
        assert "<script>alert" not in response.text, page


SLY = "a\u202eb\u200bc"
"""A right-to-left override and a zero width space."""


PAGES_OF_SLY = (
    "/",
    "/skills",
    "/skills?q=harmless",
    "/skills?tag=" + quote(SLY),
    "/skills/sly",
    "/skills/sly/view/SKILL.md",
    "/skills/sly/view/" + quote(SLY + ".md"),
    "/skills/sly/versions",
    "/skills/sly/versions/{version}",
    "/findings",
    "/findings/" + quote(SLY),
    "/activity",
    "/indexes/default",
    "/catalog/skills?skill_id=sly",
    "/catalog/skills/{row}",
    "/catalog/skills?_facet=author&_search=harmless",
    "/catalog/findings",
    "/skills/" + quote(SLY),
    "/skills/sly/view/none" + quote(SLY),
)


def test_invisible_characters_are_written_out(site: Site, catalog: Path) -> None:
    """In titles, names, snippets, Markdown, file trees, cells and attributes alike."""
    store_skill_of(SLY, "sly", ".md", catalog)
    (row,) = site.rows("skills", skill_id="sly", _col="skill_id")
    (version,) = site.rows("versions", skill_id="sly")
    for page in PAGES_OF_SLY:
        found = site.get(page.format(row=row["id"], version=version["version"])).text
        values = "".join(re.findall(r'(?:value|data-copy)="[^"]*"', found))  # to be sent or pasted
        shown = re.sub(r'(?:value|data-copy)="[^"]*"', "", found)
        assert "[U+202E]" in shown, page
        assert not {"\u202e", "\u200b"} & set(shown), page
        assert "[U+" not in values, page
        assert "<span" not in re.findall(r"<title>(.*?)</title>", found, re.DOTALL)[0], page


def test_a_shared_link_has_a_picture(site: Site) -> None:
    """With a whole URL, as programs that show a preview ask for it."""
    picture = re.search(
        r'property="og:image" content="http://localhost(/[^"]+)"', site.get("/skills").text
    )
    assert picture
    answer = site.ask("get", unescape(picture[1]))
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")


def test_the_site_works_below_a_prefix(prefixed_site: Site) -> None:
    """Behind a proxy that shows it under /pre/, every link stays there."""
    page = prefixed_site.get("/skills/word-count")
    links = [link for link in Links(page.text).found if not link.startswith("#")]
    assert [link for link in links if not link.startswith("/pre/")] == []


def test_who_may_not_see_the_catalog_sees_none_of_it(
    catalog: Path,
    serve: Callable[..., Site],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    """Datasette's own permissions hold for our pages; only health answers, without the row."""
    metadata = tmp_path / "metadata.yml"
    metadata.write_text(f"allow: {{id: somebody}}\n{app.metadata_path().read_text()}")
    monkeypatch.setattr(app, "metadata_path", lambda: metadata)
    own_site = serve(catalog)
    for page in (*PAGES, "/search.json?q=a", "/index/default", "/skills/word-count/preview"):
        response = own_site.get(page)
        assert response.status_code == 403, page
        assert "Forbidden" in response.text
        assert "Counts words" not in response.text
    assert set(own_site.get("/-/healthz").json()) == {"status", "needs_attention"}


def test_the_roots_of_a_catalog_are_words_too(site: Site, catalog: Path) -> None:
    """A folder may have any name; the front page shows its trouble as text."""
    store = Store.open(catalog)
    store.roots.set_trouble(ROOT, "<b>gone</b>")
    store.close()
    assert "&lt;b&gt;gone" in site.get("/").text
