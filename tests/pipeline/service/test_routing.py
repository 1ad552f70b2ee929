"""Routing tests of skills, run once when a scan or the service has published them."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from catalog.writing import routing
from pipeline.config.settings import Settings
from pipeline.service.reconcile import compare
from tests.support.serving import Serving
from tests.support.shelf import Shelf
from tests.support.skills import SkillWriter

CODES = "SELECT code FROM findings WHERE code LIKE 'rout%' ORDER BY id"


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """Return a root without skills."""
    shelf = Shelf(tmp_path)
    yield shelf
    shelf.close()


@pytest.fixture
def sheets(skill: SkillWriter) -> Callable[..., Path]:
    """Return a function that writes a skill for spreadsheets with routing tests."""

    def write(root: Path, *tests: tuple[str, bool], name: str = "sheets", **fields: Any) -> Path:
        entries = [{"query": query, "should_trigger": leads} for query, leads in tests]
        text = json.dumps(entries, indent=1)
        fields = {"description": "Sums the columns of spreadsheets."} | fields
        return skill(root / name, files={"evals/routing.json": text}, **fields)

    return write


def codes(shelf: Shelf) -> list[str]:
    """Return the codes of the routing tests' findings in the catalog."""
    return [code for (code,) in shelf.db.execute(CODES)]


def test_a_scan_stores_what_its_routing_tests_miss(
    shelf: Shelf, skill: SkillWriter, sheets: Callable[..., Path]
) -> None:
    """They run after all skills are in the catalog, and `reconcile` finds no difference."""
    sheets(shelf.root, ("sum columns", True), ("count words", True), ("sum columns", False))
    for number in range(5):
        sheets(shelf.root, ("the weather", True), name=f"z{number}")
    skill(shelf.root / "words")
    shelf.scan()
    assert codes(shelf) == ["route-missed", "route-taken", *["route-missed"] * 5]
    assert compare(shelf.settings).differences == ()


def test_findings_of_routing_tests_stay_as_of_the_publication(
    shelf: Shelf, skill: SkillWriter, sheets: Callable[..., Path]
) -> None:
    """Neither another skill nor a new look at it runs them again; a change of its own does."""
    sheets(shelf.root, ("sum columns", False))
    skill(shelf.root / "words")
    shelf.scan()
    assert codes(shelf) == ["route-taken"]
    skill(shelf.root / "sum-columns", description="Sums columns; sum columns with it.")
    shelf.scan()
    assert codes(shelf) == ["route-taken"]
    events = shelf.db.execute("SELECT count(*) FROM ingestions").fetchall()
    os.utime(shelf.root / "sheets/SKILL.md")
    shelf.scan()
    assert codes(shelf) == ["route-taken"]
    assert shelf.db.execute("SELECT count(*) FROM ingestions").fetchall() == events
    sheets(shelf.root, ("sum columns", False), body="# New\n")
    shelf.scan()
    assert codes(shelf) == []


def test_a_skill_without_its_name_has_no_findings_of_routing_tests(
    shelf: Shelf, tmp_path: Path, skill: SkillWriter, sheets: Callable[..., Path]
) -> None:
    """Searches do not find a shadowed skill."""
    (tmp_path / "company").mkdir()
    company = {"path": tmp_path / "company", "level": "enterprise"}
    shelf.settings = Settings(
        data=shelf.settings.data, settle_quiet=0, roots=[{"path": shelf.root}, company]
    )
    sheets(shelf.root, ("count words", True))
    shelf.scan()
    assert codes(shelf) == ["route-missed"]
    skill(tmp_path / "company/sheets")
    shelf.scan()
    assert codes(shelf) == []


def test_roots_without_the_profile_have_no_findings_of_routing_tests(
    shelf: Shelf, sheets: Callable[..., Path]
) -> None:
    """They are advice."""
    root = {"path": shelf.root, "profiles": ["spec"]}
    shelf.settings = Settings(data=shelf.settings.data, settle_quiet=0, roots=[root])
    sheets(shelf.root, ("count words", True))
    shelf.scan()
    assert codes(shelf) == []


def test_routing_tests_that_an_end_prevented_are_run_after_the_next_start(
    shelf: Shelf, sheets: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was published and not tested is stored with the changes."""
    sheets(shelf.root, ("count words", True))
    with monkeypatch.context() as patch:
        patch.setattr(routing, "run_next", lambda _: False)
        shelf.scan()
    assert codes(shelf) == []
    shelf.scan()
    assert codes(shelf) == ["route-missed"]


def test_a_service_runs_the_routing_tests_of_a_changed_skill(
    serving: Callable[..., Serving], skill: SkillWriter, sheets: Callable[..., Path]
) -> None:
    """They run once it is published, also after a scan that was too early, and after a change."""
    it = serving(settle_quiet=1.0)
    sheets(it.root, ("count words", True), ("sum columns", False))
    skill(it.root / "words")
    it.start()
    it.wait_for(lambda: it.rows(CODES) == [("route-missed",), ("route-taken",)])
    sheets(it.root, ("count words", True))
    it.wait_for(lambda: it.rows(CODES) == [("route-missed",)])
    it.settle()
    assert compare(it.settings).differences == ()
