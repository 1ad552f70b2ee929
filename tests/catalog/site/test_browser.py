"""The site in a real browser."""

import re
import sqlite3
from contextlib import closing

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page, Route, expect

from tests.support.browsers import Library, Seen
from tests.support.page_kinds import page_kinds

EVERYWHERE = [
    "/",
    "/skills",
    "/skills?q=csv",
    "/skills?q=nothing-has-this",
    "/skills/csv-profile",
    "/skills/oddity",
    *(
        f"/skills/oddity#{part}"
        for part in ("findings", "files", "versions", "related", "indexes", "about")
    ),
    "/skills?status=all",
    "/sources",
    "/sources/skilldrop",
    "/skills/broken",
    "/skills/csv-profile/view/scripts/profile_csv.py",
    "/skills/csv-profile/versions",
    "/findings",
    "/findings/description-missing",
    "/indexes",
    "/indexes/default",
    "/activity",
    "/skills/%E4%BC%9A%E8%AE%AE%E7%BA%AA%E8%A6%81",
]
LOOKS = {1440: "light", 320: "dark"}
TABLES = [
    "/catalog",
    "/catalog/skills",
    "/catalog/skills?status=active&_col=name",
    "/catalog/why_not_in_the_index?skill=",
    "/catalog/health/1",
    "/catalog/ingestions",
]
WIDTHS = {320: "light", 640: "dark"}
"""The narrowest screen, and half of a usual one, which is what a zoom of 200 % leaves."""
HOSTILE = 31
"""Least pages that show a script of a skill: the hostile skill is the largest of its kind."""


def test_from_a_search_to_what_agents_are_told(page: Page) -> None:
    """Search, skill, file, finding, index: each is a click from the one before."""
    page.goto("/")
    page.get_by_role("combobox", name="Search").fill("word count")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="oddity").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("oddity")
    page.get_by_role("link", name="run.py").click()
    expect(page.locator("#L1")).to_contain_text("print(1)")
    page.go_back()
    page.locator(".tabs").get_by_role("link", name="Findings").click()
    page.locator(".finding-group summary").first.click()
    expect(page.get_by_text("What to do:").first).to_be_visible()
    page.get_by_role("link", name="About the rule").first.click()
    page.locator(".masthead").get_by_role("link", name="Indexes").click()
    page.get_by_role("link", name="default").click()
    expect(page.get_by_role("img", name="characters used")).to_be_visible()
    page.get_by_role("link", name="oddity").click()
    expect(page).to_have_url("/skills/oddity")


def test_a_search_answers_while_one_types(page: Page) -> None:
    """The arrow keys choose a skill, Enter opens it, and Escape closes the answers."""
    page.goto("/findings")
    field = page.get_by_role("combobox", name="Search the skills")
    field.press_sequentially("csv prof")
    first = page.get_by_role("option").first
    expect(first).to_contain_text("csv-profile")
    field.press("ArrowDown")
    expect(first).to_have_attribute("aria-selected", "true")
    assert field.get_attribute("aria-activedescendant") == first.get_attribute("id")
    field.press("Escape")
    expect(page.get_by_role("listbox")).to_be_hidden()
    expect(field).to_have_value("csv prof")
    field.press("ArrowDown")
    expect(first).to_be_visible()
    field.press("ArrowDown")
    field.press("Enter")
    expect(page).to_have_url("/skills/csv-profile")


def test_a_chosen_answer_stays_chosen_when_newer_answers_arrive(page: Page) -> None:
    """Otherwise, Enter would search instead of opening the skill where the site is slow."""
    page.goto("/findings")
    field = page.get_by_role("combobox", name="Search the skills")
    field.press_sequentially("csv")
    first = page.get_by_role("option").first
    expect(first).to_contain_text("csv-profile")
    held: list[Route] = []
    page.route(re.compile("typing=1"), lambda route: held.append(route))  # it gets an attribute
    with page.expect_request(re.compile("typing=1")):
        page.keyboard.insert_text(" prof")
    field.press("ArrowDown")
    expect(first).to_have_attribute("aria-selected", "true")
    held[0].continue_()
    expect(page.get_by_role("listbox")).to_contain_text("All results for “csv prof”")
    expect(first).to_have_attribute("aria-selected", "true")
    field.press("Enter")
    expect(page).to_have_url("/skills/csv-profile")


def test_a_link_to_a_line_far_below_shows_it(page: Page, library: Library) -> None:
    """With the lines above it at their heights, of which the longest fill many rows."""
    page.set_viewport_size({"width": 320, "height": 800})
    with closing(sqlite3.connect(library.catalog)) as db:
        (hostile,) = db.execute("SELECT skill_id FROM skills WHERE path = 'hostile'").fetchone()
    page.goto(f"/skills/{hostile}/view/SKILL.md#L200")
    expect(page.locator("#L200")).to_be_in_viewport()
    page.goto(f"/skills/{hostile}/view/SKILL.md#L150-L152")
    expect(page.locator("#L150")).to_be_in_viewport()
    expect(page.locator(".line.chosen")).to_have_count(3)


def test_filters_are_chosen_and_taken_off(page: Page) -> None:
    """Beside words, which stay; each choice has a link that takes it off again."""
    page.goto("/skills?q=csv")
    page.locator(".facet").get_by_role("link", name="with scripts", exact=False).first.click()
    expect(page).to_have_url(re.compile("q=csv&has_scripts=yes"))
    page.get_by_role("combobox", name="Search").fill("profile")
    page.get_by_role("combobox", name="Search").press("Enter")
    expect(page).to_have_url(re.compile("has_scripts=yes"))
    page.get_by_role("link", name="Scripts: with scripts").click()
    expect(page).to_have_url("/skills?q=profile")


def test_all_of_it_by_keyboard(page: Page) -> None:
    """Tab reaches the search and the results, and Enter searches."""
    page.goto("/findings")
    search = page.get_by_role("combobox", name="Search")
    for _ in range(20):
        page.keyboard.press("Tab")
        if search.evaluate("each => each === document.activeElement"):
            break
    page.keyboard.type("纪要")
    page.keyboard.press("Enter")
    page.wait_for_url("**/skills?q=*")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    _tab_to(page, "会议纪要")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("会议纪要")
    _tab_to(page, "Files 2")
    page.keyboard.press("Enter")
    _tab_to(page, "SKILL.md")
    page.keyboard.press("Enter")
    expect(page.locator("#L1")).to_be_visible()


def _tab_to(page: Page, text: str) -> None:
    """Press Tab until a link of that text has the focus, which has to be seen."""
    for _ in range(60):
        page.keyboard.press("Tab")
        now = page.evaluate(
            "() => { const e = document.activeElement; const s = getComputedStyle(e);"
            " return [e.textContent.trim(), s.outlineStyle, parseFloat(s.outlineWidth)] }"
        )
        assert now[1] != "none", f"{now[0]!r} has the focus and does not show it"
        assert now[2] >= 2, f"{now[0]!r} has the focus and hardly shows it"
        if now[0] == text:
            return
    pytest.fail(f"no way to {text} by keyboard")


def test_everyone_can_use_every_page(page: Page) -> None:
    """None is wider than the screen, and axe-core complains of none, in any of the looks."""
    found = []
    for path in (*EVERYWHERE, *TABLES):
        page.goto(path)
        for width, scheme in LOOKS.items():
            _look(page, width, scheme)
            if page.evaluate(
                "document.documentElement.scrollWidth > document.documentElement.clientWidth"
            ):
                found.append(f"{path}: wider than {width} px")
            found += _complaints(page, path)
    assert "\n".join(found) == ""


def test_the_tables_keep_their_scripts_and_our_looks(page: Page) -> None:
    """The menu of a column opens and works under the site's policy."""
    page.goto("/catalog/skills")
    expect(page.get_by_role("navigation", name="Main")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(243, 244, 249)"
    page.locator('th[data-column="level"] svg').click()
    page.get_by_role("link", name="Sort descending").click()
    expect(page).to_have_url(re.compile("_sort_desc=level"))
    page.get_by_label("Search:").fill("纪要")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".rows-and-columns")).to_contain_text("会议纪要")


def test_hostile_skills_do_nothing(page: Page, seen: Seen) -> None:
    """Neither its page nor its files as they are; the next test visits all other pages."""
    # Chromium lays a raw text out with a style of its own, which the policy refuses, too.
    seen.excused = ["Applying inline style"]
    hostile = _hostile(page)
    for path in (
        hostile,
        f"{hostile}/view/SKILL.md",
        f"{hostile}/view/assets/page.html",
        f"{hostile}/files/assets/page.html",
        f"{hostile}/files/assets/drawing.svg",
        f"{hostile}/files/scripts/evil.js",
        f"{hostile}/preview",
        "/index/default",
    ):
        page.goto(path)
        page.wait_for_load_state("load")
        assert page.title() != "ran", path
    page.goto(hostile)  # the last messages about a raw text have come when it is there
    seen.excused = []
    page.goto(hostile)
    assert page.locator("main script, main iframe, main style, main base").count() == 0
    assert page.locator("main [onerror], main [onload]").count() == 0
    schemes = page.evaluate("[...document.querySelectorAll('main a')].map(a => a.protocol)")
    assert set(schemes) <= {"http:", "https:", "mailto:"}
    picture = page.locator(".markdown img")
    assert picture.count() == 1
    assert picture.evaluate("image => image.naturalWidth") == 1


def test_every_page_fits_and_runs_nothing_of_a_skill(
    page: Page, library: Library, seen: Seen
) -> None:
    """None is wider than the screen or very high; hostile names, fields and files are text.

    The fixture asserts that the browser complained of nothing and asked no other site.
    """
    # Chromium itself tells of each page that is missing.
    seen.excused = ["status of 404"]
    found, with_scripts = [], []
    for kind, path in page_kinds(library.catalog).items():
        answer = page.goto(path)
        assert answer
        assert answer.status == (404 if kind.startswith("no ") else 200), kind
        for width, scheme in WIDTHS.items():
            _look(page, width, scheme)
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append(f"{kind} ({path}): wider than {width} px")
            if page.evaluate("document.documentElement.scrollHeight > 10_000"):
                found.append(f"{kind} ({path}): too high at {width} px")
        if page.title() == "ran" or page.locator("[onerror], [onload]").count():
            found.append(f"{kind} ({path}): runs something")
        if "<script>" in (page.locator("body").text_content() or ""):
            with_scripts.append(kind)
    assert "\n".join(found) == ""
    assert len(with_scripts) >= HOSTILE


@pytest.mark.parametrize("path", ["/activity.atom", "/activity.atom?skill=oddity"])
def test_a_feed_of_hostile_skills_holds_nothing_that_runs(page: Page, path: str) -> None:
    """Opened in the browser it is a text; its entries are text for readers of feeds."""
    page.goto(path)
    assert page.evaluate("document.contentType") == "text/plain"
    page.goto("/health")
    feed = page.evaluate(
        """async (path) => {
            const text = await (await fetch(path)).text();
            const feed = new DOMParser().parseFromString(text, "application/xml");
            const odd = "script, img, svg, parsererror, [onerror], [type=html], [type=xhtml]";
            return [feed.documentElement.tagName, text.includes("script"),
                feed.querySelectorAll(odd).length];
        }""",
        path,
    )
    assert feed == ["feed", path == "/activity.atom", 0]


def test_a_page_that_is_visited_again_keeps_its_looks(page: Page) -> None:
    """The answer to the second visit is 304, whose headers replace those of the first one."""
    for _ in range(3):
        page.goto("/findings")
        assert page.evaluate("document.styleSheets[0].cssRules.length") > 0


def test_even_an_injected_script_would_not_run(page: Page, seen: Seen) -> None:
    """The policy is a wall of its own: put into the page, a skill's script is refused."""
    hostile = _hostile(page)
    page.goto(hostile)
    page.evaluate(
        """path => {
        for (const fill of [s => s.textContent = "document.title = 'ran'",
                            s => s.src = path + "/files/scripts/evil.js"]) {
            const script = document.createElement("script"); fill(script);
            document.body.append(script);
        }
    }""",
        hostile,
    )
    page.wait_for_load_state("networkidle")
    assert page.title() != "ran"
    assert len([said for said in seen.complaints if "Content Security Policy" in said]) == 2
    seen.complaints.clear()


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=lambda size: str(size[0]))
def test_the_tabs_of_a_skill_keep_their_place(page: Page, size: tuple[int, int]) -> None:
    """A click on one shows its part, and moves the tabs at most up to the edge of the window."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    page.emulate_media(reduced_motion="reduce")
    page.goto("/skills/oddity")
    places = set()
    for tab in page.locator(".tabs a").all():
        tab.click()
        expect(page.locator(tab.get_attribute("href") or "")).to_be_in_viewport()
        places.add(page.locator(".tabs").evaluate("each => each.getBoundingClientRect().top"))
    assert len(places) == 1


def test_a_path_is_copied(page: Page) -> None:
    """A click copies the folder's path and confirms it."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/skills/csv-profile")
    page.get_by_role("link", name="About").click()
    page.get_by_role("button", name="Copy the folder's path").click()
    expect(page.locator("button[data-done]")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").endswith("/csv-profile")


def test_lines_of_a_version_are_shared(page: Page) -> None:
    """A click chooses a line, one with Shift all up to it; the copied link leads back to them."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/skills/csv-profile")
    page.get_by_role("link", name="profile_csv.py").click()
    page.get_by_role("link", name="Line 4", exact=True).click()
    page.get_by_role("link", name="Line 2", exact=True).click(modifiers=["Shift"])
    expect(page.locator(".line-bar span")).to_have_text("Lines 2 to 4")
    page.get_by_role("button", name="Copy link").click()
    link = page.evaluate("navigator.clipboard.readText()")
    assert re.search(r"/view/scripts/profile_csv.py\?version=[\d-]+#L2-L4$", link)
    page.goto("/")
    page.goto(link)
    expect(page.locator(".line.chosen")).to_have_count(3)
    assert _complaints(page, link) == []


def test_anchors_of_github_lead_to_headings(page: Page) -> None:
    """Those of the page have a prefix; code has a button that copies it."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.set_viewport_size({"width": 390, "height": 300})
    page.goto("/skills/csv-profile#output")
    expect(page.locator("#md-output")).to_be_in_viewport()
    page.get_by_role("button", name="Copy this code").first.click()
    assert "python3 scripts/profile_csv.py" in page.evaluate("navigator.clipboard.readText()")


def _look(page: Page, width: int, scheme: str) -> None:
    """Show the page at a width, in light or dark colours."""
    page.set_viewport_size({"width": width, "height": 900})
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]


def _hostile(page: Page) -> str:
    page.goto("/skills?q=hostile")
    named = page.locator(".cards h2 a").filter(has_text="document.title")
    path = named.first.get_attribute("href")
    assert path
    return path


def _complaints(page: Page, path: str) -> list[str]:
    """Return the complaints of axe-core; only they leave the browser, which is faster."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found: list[str] = page.evaluate(
        """async () => {
        const rules = {"target-size": {enabled: true}};
        const {violations} = await axe.run({resultTypes: ["violations"], selectors: false, rules});
        return violations.map(({id, nodes}) => `${id}: ${nodes[0].html.slice(0, 200)}`);
    }"""
    )
    return [f"{path}: {complaint}" for complaint in found]
