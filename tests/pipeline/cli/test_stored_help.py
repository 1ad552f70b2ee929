"""Help of the program, stored for the usual widths of terminals."""

import subprocess
import sys

import click
import pytest

from pipeline.cli import stored_help
from pipeline.cli.app import cli


@pytest.mark.parametrize("columns", [80, 100, 132])
def test_the_stored_help_is_that_of_the_commands(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal of another width gets it from the commands."""
    monkeypatch.setenv("COLUMNS", str(columns))
    with click.Context(cli, info_name="skilldrop", **cli.context_settings) as context:
        made = f"{cli.get_help(context)}\n"
    assert stored_help.find(["--help"]) == stored_help.find(["-h"]) == made


def test_a_narrow_terminal_and_other_words_have_no_stored_help(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The commands answer."""
    monkeypatch.setenv("COLUMNS", "60")
    assert stored_help.find(["--help"]) is None
    monkeypatch.setenv("COLUMNS", "80")
    assert stored_help.find(["scan", "--help"]) is None


def test_help_is_printed_without_importing_the_commands() -> None:
    """The start of Python takes most of the time."""
    code = "import sys; sys.argv[1:] = ['--help']; from pipeline.cli.entry import main; main(); "
    code += "assert 'click' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={}
    )
    assert done.stdout.startswith("Usage: skilldrop")
