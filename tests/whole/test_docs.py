"""The pages of docs/ that are made from the code."""

import importlib.util
import re
from types import ModuleType

import pytest

from pipeline.cli.app import cli
from tests.support.paths import REPOSITORY

DOCS = REPOSITORY / "docs"


def generator() -> ModuleType:
    """Return docs/generate.py, which lies in no package."""
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", sorted(generator().PAGES))
def test_a_generated_page_is_up_to_date(page: str) -> None:
    """What is in the repository is what the code says now; `make docs` writes it."""
    text = generator().PAGES[page]()
    assert (DOCS / page).read_text("utf-8") == text, "stale: run `make docs`"


def test_every_command_shows_an_example() -> None:
    """Help is documentation: each command has something to paste."""
    page = (DOCS / "commands.md").read_text("utf-8")
    for name in cli.commands:
        section = page.split(f"## `skilldrop {name}`", 1)[1].split("\n## ", 1)[0]
        assert re.search(rf"^ +skilldrop .*\b{name}\b", section, re.MULTILINE), name


def test_every_column_of_the_schema_page_says_what_it_holds() -> None:
    """No row of a table is left without words."""
    assert not re.findall(r"^\| `.*\| *\|$", (DOCS / "schema.md").read_text("utf-8"), re.MULTILINE)
