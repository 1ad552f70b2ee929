"""Tasks of people who use the site, with their clicks counted from the front page."""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.browsers import Library

Step = Callable[[Page], Locator]


class Task(NamedTuple):
    """Steps of a task after typing, each of which is one click or one Enter, and its result."""

    name: str
    typed: str
    steps: Sequence[Step]
    shows: Step


def _link(name: str) -> Step:
    return lambda page: page.locator("main").get_by_role("link", name=name).first


def _button(name: str) -> Step:
    return lambda page: page.get_by_role("button", name=name).first


def _found(name: str) -> Step:
    return lambda page: page.get_by_role("option").filter(has_text=name).first


def _text(text: str) -> Step:
    return lambda page: page.locator("main").get_by_text(text).first


def _in(place: str, name: str) -> Step:
    return lambda page: page.locator(place).get_by_role("link", name=name).first


def _newest(page: Page) -> Locator:
    return page.locator(".versions li a").first


def _source(page: Page) -> Locator:
    return page.locator("section[aria-labelledby=by-source] .chip").first


TASKS = [
    Task("find and get a skill", "word count", [_found("oddity")], _button("Copy the line for")),
    Task(
        "copy the install line",
        "word count",
        [_found("oddity"), _button("Copy the line for")],
        _text("Copied"),
    ),
    Task(
        "read a script before trusting it",
        "csv prof",
        [_found("csv-profile"), _link("profile_csv.py")],
        lambda page: page.locator("#L1"),
    ),
    Task(
        "compare two versions",
        "word count",
        [_found("oddity"), _link("Versions"), _newest],
        _text("The third version."),
    ),
    Task(
        "why my skill is not in the index",
        "broken",
        [_button("Search"), _link("Why is")],
        _text("description is missing or blank"),
    ),
    Task("what changed this week", "", [_link("this week")], _text("lines in 1 file")),
    Task("why a skill was rejected", "", [_link("1 rejected")], _text("description is missing")),
    Task(
        "who shadows whom",
        "",
        [_link("1 shadowed")],
        _text("Shadowed by the project skill in"),
    ),
    Task("skills of a source", "", [_source], _link("csv-profile")),
    Task(
        "duplicates",
        "",
        [_in("footer", "Questions"), _link("Which skills are duplicates?")],
        _text("Folders with identical files"),
    ),
    Task(
        "the URL of the index",
        "",
        [_in(".masthead", "Indexes"), _button("Copy the URL")],
        _text("Copied"),
    ),
    Task("dangerous skills", "", [_link("With dangerous content")], _text("Hostile.")),
    Task("download", "word count", [_found("oddity"), _link("Download ZIP")], _text("ZIP")),
    Task(
        "share a line of a version",
        "csv prof",
        [_found("csv-profile"), _link("profile_csv.py"), _link("Line 4")],
        lambda page: page.locator(".line.chosen"),
    ),
]
CLICKS = {
    "find and get a skill": 1,
    "copy the install line": 2,
    "read a script before trusting it": 2,
    "compare two versions": 3,
    "why my skill is not in the index": 2,
    "what changed this week": 1,
    "why a skill was rejected": 1,
    "who shadows whom": 1,
    "skills of a source": 1,
    "duplicates": 2,
    "the URL of the index": 2,
    "dangerous skills": 1,
    "download": 2,
    "share a line of a version": 3,
}
"""Most clicks of each task."""


ways = pytest.mark.parametrize("by_keyboard", [False, True], ids=["mouse", "keyboard"])


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name.replace(" ", "-"))
@ways
def test_a_task_takes_few_clicks(page: Page, task: Task, by_keyboard: bool) -> None:
    """From the front page after typing, with the mouse or with the keyboard alone."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto("/")
    page.keyboard.type(task.typed)  # the search has the focus
    for step in task.steps:
        (_press if by_keyboard else _click)(page, step(page))
    expect(task.shows(page)).to_be_visible()
    assert len(task.steps) <= CLICKS[task.name]


def test_any_two_versions_are_compared(page: Page) -> None:
    """The form picks others than the last two, which is one choice more."""
    page.goto("/skills/oddity#versions")
    page.locator("select[name=from]").select_option(index=2)
    page.get_by_role("button", name="Show the differences").click()
    expect(page.locator("main").get_by_text("The second version.").first).to_be_visible()


def test_shared_lines_and_downloads_are_of_a_version(page: Page, library: Library) -> None:
    """The address of a line names its version; the archive arrives."""
    page.goto("/skills/csv-profile/view/scripts/profile_csv.py")
    page.get_by_role("link", name="Line 4", exact=True).click()
    assert re.search(r"profile_csv\.py\?version=[\d-]+#L4$", page.url)
    page.goto("/skills/oddity")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download ZIP").click()
    assert download.value.suggested_filename.endswith(".zip")


@ways
def test_two_clicks_on_the_page_of_a_skill_download_a_file_or_compare_versions(
    page: Page, by_keyboard: bool
) -> None:
    """Its parts are tabs, which are addresses and work without a script."""
    act = _press if by_keyboard else _click
    page.goto("/skills/csv-profile")
    with page.expect_download() as download:
        act(page, page.get_by_role("link", name="Files"))
        act(page, page.get_by_role("link", name="Download scripts/profile_csv.py"))
    assert download.value.suggested_filename == "profile_csv.py"
    page.goto("/skills/oddity")
    act(page, page.get_by_role("link", name="Versions"))
    expect(page.get_by_role("heading", name="Instructions")).to_be_hidden()
    act(page, _newest(page))
    expect(page.locator("main").get_by_text("The third version.").first).to_be_visible()


def test_long_instructions_are_folded_until_somebody_asks_for_them(page: Page) -> None:
    """With a click, a link to a heading, or the focus; so no page is longer than some screens."""
    page.goto("/skills/long")
    last = page.get_by_role("heading", name="Part 399")
    height = "document.documentElement.scrollHeight"
    assert page.evaluate(height) < 10_000
    page.get_by_label("Show all of the instructions").check()
    assert page.evaluate(height) > 20_000
    page.goto("/skills/long#md-part-399")
    expect(last).to_be_in_viewport()


def test_the_last_way_to_get_a_skill_is_chosen_for_the_next(page: Page) -> None:
    """One line is shown at a time."""
    page.goto("/skills/oddity")
    page.get_by_text("Claude Code", exact=True).click()
    page.goto("/skills/csv-profile")
    expect(page.get_by_text("unzip -qo csv-profile.zip")).to_be_visible()
    expect(page.get_by_text("npx skills add")).to_be_hidden()


@pytest.mark.parametrize("path", ["/", "/skills?q=words", "/skills/oddity", "/sources/skilldrop"])
@ways
def test_a_feed_is_one_click_away_where_people_look(
    page: Page, path: str, by_keyboard: bool
) -> None:
    """It opens as a feed, whose entries a reader can follow."""
    page.goto(path)
    link = page.locator("main a[href*='activity.atom']").first
    with page.expect_response(re.compile("activity.atom")) as feed:
        (_press if by_keyboard else _click)(page, link)
    assert feed.value.headers["content-type"].startswith("application/atom+xml")


def _click(page: Page, target: Locator) -> None:
    target.click()


def _press(page: Page, target: Locator) -> None:
    """Move to a link, button or suggestion with the keyboard, and press Enter.

    Elements but suggestions are found once: to find them by their role looks at the whole page.
    """
    expect(target).to_be_visible()
    is_option = target.get_attribute("role") == "option"
    key, found = ("ArrowDown", target) if is_option else ("Tab", target.element_handle())
    for _ in range(120):
        page.keyboard.press(key)
        if found.evaluate(
            "e => e === document.activeElement || e.getAttribute('aria-selected') === 'true'"
        ):
            break
    else:
        pytest.fail(f"no way by keyboard to {target}")
    page.keyboard.press("Enter")
