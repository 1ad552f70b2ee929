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


TASKS = [
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
        [_found("oddity"), _button("Show the differences")],
        _text("The third version."),
    ),
    Task(
        "why my skill is not in the index",
        "broken",
        [_button("Search"), _link("Why is")],
        _text("description is missing or blank"),
    ),
    Task("what changed today", "", [_link("Changed today")], _link("csv-profile")),
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
    Task("download", "word count", [_found("oddity"), _link("download it as ZIP")], _text("ZIP")),
    Task(
        "share a line of a version",
        "csv prof",
        [_found("csv-profile"), _link("profile_csv.py"), _link("Line 4")],
        lambda page: page.locator(".line.chosen"),
    ),
]
CLICKS = {
    "copy the install line": 2,
    "read a script before trusting it": 2,
    "compare two versions": 3,
    "why my skill is not in the index": 2,
    "what changed today": 1,
    "duplicates": 2,
    "the URL of the index": 2,
    "dangerous skills": 1,
    "download": 2,
    "share a line of a version": 3,
}
"""Most clicks of each task."""


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name.replace(" ", "-"))
@pytest.mark.parametrize("by_keyboard", [False, True], ids=["mouse", "keyboard"])
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
    page.goto("/skills/oddity")
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
        page.get_by_role("link", name="download it as ZIP").click()
    assert download.value.suggested_filename.endswith(".zip")


def _click(page: Page, target: Locator) -> None:
    target.click()


def _press(page: Page, target: Locator) -> None:
    """Move to a link, button or suggestion with the keyboard, and press Enter."""
    expect(target).to_be_visible()
    key = "ArrowDown" if target.get_attribute("role") == "option" else "Tab"
    for _ in range(120):
        page.keyboard.press(key)
        if target.evaluate(
            "e => e === document.activeElement || e.getAttribute('aria-selected') === 'true'"
        ):
            break
    else:
        pytest.fail(f"no way by keyboard to {target}")
    page.keyboard.press("Enter")
