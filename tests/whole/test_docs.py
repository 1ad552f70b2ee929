"""The documentation: pages that are made from the code, and the site that is built from all."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from docs_from_code import settings
from docs_from_code.examples import EXAMPLES
from docs_from_code.pages import DOCS, PAGES
from docs_from_code.site import build, faults
from pipeline.authoring.lint import judge_paths
from pipeline.cli.app import cli
from pipeline.cli.output.finding_types import REGISTRY
from pipeline.validation.registry import FOR_ALL
from tests.support.paths import REPOSITORY

BAD = REPOSITORY / "tests/samples/bad"


@pytest.mark.parametrize("page", sorted(PAGES))
def test_a_generated_page_is_up_to_date(page: str) -> None:
    """The page in the repository is the one that the code makes; `make docs` writes it."""
    assert (DOCS / page).read_text("utf-8") == PAGES[page](), "stale: run `make docs`"


def test_every_command_shows_an_example() -> None:
    """Help is documentation: each command has something to paste."""
    page = (DOCS / "reference/commands.md").read_text("utf-8")
    for name in cli.commands:
        section = page.split(f"## `skilldrop {name}`", 1)[1].split("\n## ", 1)[0]
        assert re.search(rf"^ +skilldrop .*\b{name}\b", section, re.MULTILINE), name


def test_every_column_of_the_schema_page_says_what_it_holds() -> None:
    """No row of a table is left without words."""
    page = (DOCS / "reference/schema.md").read_text("utf-8")
    assert not re.findall(r"^\| `.*\| *\|$", page, re.MULTILINE)


def test_every_setting_has_a_meaning_and_every_meaning_a_setting() -> None:
    """The meanings beside the settings page name the keys of the models, and no others."""
    assert settings.explained() == settings.keys()


@pytest.mark.parametrize("code", sorted(EXAMPLES))
def test_the_bad_lines_of_an_example_raise_its_finding_and_the_good_ones_do_not(
    tmp_path: Path, code: str
) -> None:
    """The bad lines are those of the code's sample; with the good ones its finding is gone.

    Nothing new is found then, in a folder that has the name of the skill.
    """
    example = EXAMPLES[code]
    (sample,) = (BAD / code).glob("*/SKILL.md")
    text = sample.read_bytes().decode("utf-8")
    assert text.count(example.bad) == 1
    bad = _codes(sample.parent, REGISTRY[code].profile)
    good_text = text.replace(example.bad, example.good)
    name = re.search(r"^name: (.+)$", good_text, re.MULTILINE)
    assert name
    good = tmp_path / name[1]
    shutil.copytree(sample.parent, good)
    (good / "SKILL.md").write_bytes(good_text.encode("utf-8"))
    assert code in bad
    assert _codes(good, REGISTRY[code].profile) <= bad - {code}


def _codes(skill: Path, own: str) -> set[str]:
    common = [profile.name for profile in FOR_ALL]
    profiles = common if own in ("reading", *common) else [own]
    (judgement,) = judge_paths([skill], profiles=profiles, cores=1)
    return {finding.code for finding in judgement.findings}


def _linked(page: Path) -> Iterator[Path]:
    for address in re.findall(r"\]\(([^)\s]+)\)", page.read_text("utf-8")):
        path = unquote(address.partition("#")[0])
        if path and ":" not in path:
            yield page.parent / path


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_the_pages_at_the_top_link_to_files_that_exist(page: str) -> None:
    """A link from a page outside the site leads to a file of the repository."""
    assert [link for link in _linked(REPOSITORY / page) if not link.exists()] == []


PAGE = "<!doctype html><h1 id=top>Page</h1>"


@pytest.mark.parametrize(
    ("element", "fault"),
    [
        ('<a href="missing.html">', "its link to missing.html leads nowhere"),
        ('<a href="other.html#nothing">', "its link to other.html#nothing leads to no anchor"),
        ('<img src="missing.svg">', "its link to missing.svg leads nowhere"),
        (
            '<script src="https://host.example/x.js">',
            "it fetches https://host.example/x.js from another host",
        ),
        (
            '<link rel="stylesheet" href="//host.example/x.css">',
            "it fetches //host.example/x.css from another host",
        ),
    ],
)
def test_a_fault_of_a_built_page_is_told(tmp_path: Path, element: str, fault: str) -> None:
    """A dead link, a missing anchor and anything from another host are told with the page."""
    (tmp_path / "other.html").write_text(PAGE, "utf-8")
    (tmp_path / "page.html").write_text(PAGE + element, "utf-8")
    assert faults(tmp_path) == [f"page.html: {fault}"]


def test_links_that_lead_somewhere_are_no_faults(tmp_path: Path) -> None:
    """Links to pages, their anchors, folders with an index and other sites are all right."""
    (tmp_path / "index.html").write_text(PAGE, "utf-8")
    (tmp_path / "page.html").write_text(
        PAGE
        + '<a href="#top"><a href="index.html#top"><a href="."><a href="https://host.example">',
        "utf-8",
    )
    assert faults(tmp_path) == []


def test_a_link_to_a_missing_page_fails_the_build(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """The strict build says which page has the dead link, and gives no site."""
    repository = tmp_path / "repository"
    (repository / "docs").mkdir(parents=True)
    (repository / "docs/index.md").write_text("# Page\n\n[dead](missing.md)\n", "utf-8")
    (repository / "zensical.toml").write_text('[project]\nsite_name = "site"\n', "utf-8")
    copy = tmp_path / "copy"
    copy.mkdir()
    assert build(repository, copy) is None
    assert "index.md" in capfd.readouterr().err
    assert not (repository / "site").exists()
