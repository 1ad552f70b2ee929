"""Pages that stay open in a real browser: changes, keys, theme and times."""

import re
import sqlite3
from contextlib import closing
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from playwright.sync_api import Page, expect

from pipeline.config import loader
from pipeline.service.open_catalog import open_store
from pipeline.service.run_once import scan_once
from pipeline.service.scanning.engines import serial
from tests.support.browsers import Library


def _change(library: Library, name: str, description: str) -> None:
    """Change a skill in the catalog that the site serves."""
    folder = library.watched / name
    folder.mkdir(exist_ok=True)
    text = f"---\nname: {name}\ndescription: {description}\n---\n\nNew steps.\n"
    (folder / "SKILL.md").write_text(text)
    settings = loader.load(None, library.watched, library.watched.parent / "var")
    store = open_store(settings.model_copy(update={"settle_quiet": 0}))
    scan_once(settings, store, engine=serial)
    store.close()


def _execute(library: Library, sql: str) -> None:
    """Change the catalog that the site serves, behind the back of all programs."""
    with closing(sqlite3.connect(library.catalog)) as db, db:
        db.execute(sql)


def _asked_until_newer(page: Page) -> None:
    """Let the time of the page pass until the site has told it of a change."""
    known = int(page.locator("body").get_attribute("data-newest") or "")
    for _ in range(50):
        with page.expect_response("**/-/state.json*") as response:
            page.clock.fast_forward("00:16")
        if response.value.json()["newest_change"] > known:
            return
    pytest.fail("the site told of no change")


def test_an_open_page_of_health_notices_another_state(page: Page, library: Library) -> None:
    """Also where no skill has changed."""
    page.clock.install()
    page.goto("/health")
    _execute(library, "UPDATE roots SET trouble = 'it is gone'")
    for _ in range(50):
        with page.expect_response("**/-/state.json*") as response:
            page.clock.fast_forward("00:16")
        if response.value.json()["health"] == "bad":
            break
    expect(page.get_by_text("This page has changed.")).to_be_visible()
    _execute(library, "UPDATE roots SET trouble = NULL")


def test_an_old_page_offers_to_load_it_again(page: Page, library: Library) -> None:
    """In a bar that leaves the focus and the page alone; what others change is none of its."""
    page.clock.install()
    page.goto("/skills/oddity")
    page.get_by_role("combobox", name="Search the skills").fill("half typed")
    _change(library, "oddity", "Takes a text and gives its newest count.")
    _asked_until_newer(page)
    expect(page.get_by_text("This page has changed.")).to_be_visible()
    expect(page.get_by_role("combobox", name="Search the skills")).to_be_focused()
    page.get_by_role("button", name="Reload").click()
    expect(page.get_by_text("Takes a text and gives its newest count.").first).to_be_visible()
    expect(page.get_by_text("This page has changed.")).to_have_count(0)


def test_the_lists_of_the_front_page_follow_the_catalog(page: Page, library: Library) -> None:
    """In place: the words in the search and the focus stay."""
    page.clock.install()
    page.goto("/")
    page.get_by_role("combobox", name="Search the skills").fill("half typed")
    _change(library, "newcomer", "Takes a day and gives its weekday.")
    _asked_until_newer(page)
    expect(page.get_by_role("link", name="newcomer")).to_be_visible()
    expect(page.get_by_role("combobox", name="Search the skills")).to_be_focused()
    expect(page.get_by_role("combobox", name="Search the skills")).to_have_value("half typed")


def test_a_theme_stays_chosen(page: Page) -> None:
    """On every page, also on the tables, until the system's is chosen again."""
    page.goto("/")
    theme = page.get_by_role("combobox", name="Theme")
    theme.select_option("dark")
    for path in ("/skills", "/catalog/skills"):
        page.goto(path)
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(16, 18, 29)"
        expect(theme).to_have_value("dark")
    theme.select_option("")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") is None


def test_times_are_local_and_keep_utc_in_the_tooltip(page: Page) -> None:
    """The browser of these tests is in Shanghai."""
    page.goto("/catalog/ingestions")
    time = page.locator("time").first
    stored = time.get_attribute("datetime") or ""
    local = datetime.fromisoformat(stored).astimezone(ZoneInfo("Asia/Shanghai"))
    expect(time).to_have_text(f"{local:%Y-%m-%d %H:%M:%S}")
    expect(time).to_have_attribute("title", re.compile(re.escape(stored[:10])))
    expect(time).to_have_attribute("title", re.compile(r"\d\d:\d\d:\d\d UTC\)$"))


def test_changes_are_grouped_by_the_days_of_the_reader(page: Page, library: Library) -> None:
    """In Shanghai, the day of what happens after 16:00 in UTC is the next one."""
    skill = "(SELECT id FROM skills WHERE skill_id = 'oddity')"
    newest = f"(SELECT max(id) FROM ingestions WHERE skill = {skill})"
    _execute(
        library,
        f"UPDATE ingestions SET started_at = '2026-03-01T' || iif(id = {newest}, 16, 15) ||"
        f" ':30:00.000+00:00' WHERE skill = {skill}",
    )
    page.goto("/activity?skill=oddity")
    expect(page.locator("h2.day")).to_have_text(["Monday, 2 March 2026", "Sunday, 1 March 2026"])
    expect(page.locator("h2.day + ol > li").first).to_contain_text("oddity")
