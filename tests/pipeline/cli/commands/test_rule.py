"""The command `skilldrop rule`."""

import click
from click.testing import CliRunner, Result

from pipeline.cli.commands.rule import rule
from pipeline.cli.output.finding_types import REGISTRY

HELP = ["-h", "--help"]
"""Options that a command keeps from its first run; those that it has below `skilldrop`."""


def run(*words: str) -> Result:
    """Run the command."""
    return CliRunner().invoke(rule, words, standalone_mode=False, help_option_names=HELP)


def test_a_page_says_why_what_to_do_and_how_to_leave_it_out() -> None:
    """It has a bad and a good example, and the source."""
    page = run("unquoted-colon").stdout
    for part in (
        "# unquoted-colon",
        "- Why: ",
        "- Fix: ",
        "`validate --fix` does it",
        "- Source: ",
    ):
        assert part in page
    assert "```diff\n-description: Takes a text file: gives" in page
    assert "\n+description: 'Takes a text file: gives" in page
    assert "`# skilldrop: ignore=unquoted-colon` in the frontmatter" in page
    assert "<!-- skilldrop: ignore=unquoted-colon -->" in page


def test_every_code_has_a_page() -> None:
    """No page links to a file that the wheel lacks."""
    for code, kind in REGISTRY.items():
        page = run(code).stdout
        assert kind.summary in page
        assert "](" not in page.partition("```diff")[0]


def test_all_codes_are_listed() -> None:
    """One per line, with profile and severity."""
    lines = run().stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(REGISTRY)


def test_an_unknown_code_is_told_with_the_nearest() -> None:
    """It is a usage error."""
    error = run("name-not-foldr").exception
    assert isinstance(error, click.UsageError)
    assert "did you mean name-not-folder?" in str(error)
