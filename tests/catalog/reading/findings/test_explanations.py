"""Explanations of findings that the package carries."""

import tomllib

from catalog.reading.findings import explanations
from tests.support.paths import REPOSITORY


def test_a_section_has_everything_about_its_code_and_nothing_of_the_next() -> None:
    """Examples with headings belong to it."""
    section = explanations.sections()["name-not-folder"]
    assert section.startswith("name differs from the folder's name.")
    assert section.count("**Source:**") == section.count("\n+") == 1
    last = explanations.sections()["last-good-version-stands"]  # before the next profile
    assert "## " not in last


def test_a_wheel_has_the_page_where_it_is_looked_for() -> None:
    """In the repository it is a page of the documentation."""
    page = explanations.path()
    assert page == REPOSITORY / "docs/reference/findings.md"
    build = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    places = build["targets"]["wheel"]["force-include"]
    assert places["docs/reference/findings.md"] == "catalog/reading/findings/findings.md"
