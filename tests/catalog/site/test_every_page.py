"""Every kind of page in a real browser, over hostile skills."""

import pytest
from playwright.sync_api import Page

from tests.support.browsers import Library, Seen
from tests.support.page_kinds import page_kinds

WIDTHS = {320: "light", 640: "dark"}
"""The narrowest screen, and half of a usual one, which is what a zoom of 200 % leaves."""
HOSTILE = 31
"""Least pages that show a script of a skill: the hostile skill is the largest of its kind."""


def test_every_page_fits_and_runs_nothing_of_a_skill(
    page: Page, library: Library, seen: Seen
) -> None:
    """None is wider than the screen, and hostile names, fields and files are text on all.

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
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
                found.append(f"{kind} ({path}): wider than {width} px")
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
