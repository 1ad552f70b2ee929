"""Explanations of findings that the package carries."""

import tomllib

from catalog.reading import finding_pages
from tests.support.paths import REPOSITORY


def test_a_section_has_everything_about_its_code_and_nothing_of_the_next() -> None:
    """Examples with headings belong to it."""
    section = finding_pages.sections()["name-not-folder"]
    assert section.startswith("name differs from the folder's name.")
    assert section.count("**Source:**") == section.count("\n+") == 1
    last = finding_pages.sections()["version-pinned"]  # before the next profile
    assert "## " not in last


def test_a_wheel_has_the_page_where_it_is_looked_for() -> None:
    """In the repository it is a page of the documentation."""
    page = finding_pages.path()
    assert page == REPOSITORY / "docs/reference/findings.md"
    build = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    places = build["targets"]["wheel"]["force-include"]
    assert places["docs/reference/findings.md"] == "catalog/reading/findings.md"
