import json
import subprocess
import sys
from pathlib import Path

import click
import click.testing
import pytest
from click.shell_completion import ShellComplete

from pipeline.cli.app import GROUPS, cli, command_named
from tests.support.skills import SkillWriter

LOADED = """
import json, sys
from pipeline.cli.app import main
for words in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit:
        pass
    print(json.dumps([words, sorted(sys.modules)]), file=sys.stderr)
"""
OF_THE_SERVICE = {"apscheduler", "datasette", "uvicorn", "watchdog", "mcp", "distributed"}
SHORT = [
    ["serch"],
    ["search", "word"],
    ["read", "count-words"],
    ["index"],
    ["status"],
    ["list"],
    ["show", "count-words"],
    ["validate", "watched"],
    ["scan"],
    ["reconcile", "--check"],
]


def test_short_commands_start_without_the_libraries_of_the_service(
    tmp_path: Path, skill: SkillWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A short command does not wait for the libraries of the service, the site and extras.

    They run in one process: what none of all has imported is imported by none.
    """
    skill(tmp_path / "watched" / "count-words")
    with monkeypatch.context() as scanning:
        scanning.setenv("SKILLDROP_SETTLE_QUIET", "0")
        assert cli.main(["scan"], standalone_mode=False) == 0
    done = subprocess.run(
        [sys.executable, "-c", LOADED, json.dumps(SHORT)],
        capture_output=True,
        text=True,
        check=False,
    )
    loaded = [json.loads(line) for line in done.stderr.splitlines() if line.startswith("[[")]
    assert [words for words, _ in loaded] == SHORT
    for words, modules in loaded:
        assert "click" in modules
        assert sorted(OF_THE_SERVICE & set(modules)) == [], words


def test_a_shell_completes_commands_and_their_options() -> None:
    """Names are completed with their help; after a command its own options and choices are."""
    shell = ShellComplete(cli, {}, "skilldrop", "_SKILLDROP_COMPLETE")
    found = shell.get_completions([], "re")
    assert [item.value for item in found] == ["read", "reconcile", "remove", "restore", "review"]
    assert found[2].help == "Move a skill to the trash"
    assert [item.value for item in shell.get_completions(["validate", "--format"], "g")] == [
        "github"
    ]


def test_the_help_names_every_command_with_a_short_summary_in_its_group() -> None:
    """No summary is cut on a terminal of 80 columns, and each name leads to its command."""
    text = click.testing.CliRunner().invoke(cli, ["--help"]).output
    for group, commands in GROUPS.items():
        section = text.split(f"\n{group}:\n")[1].split("\n\n")[0].splitlines()
        assert [line.split()[0] for line in section] == list(commands)
        for line, (name, (_, summary)) in zip(section, commands.items(), strict=True):
            assert line.endswith(f"  {summary}")
            assert len(summary) < 60
            assert command_named(name).name == name


def test_the_help_of_the_program_imports_no_settings_and_no_catalog() -> None:
    """It appears at once; pydantic and SQLite are for commands that need them."""
    program = (
        "import sys; from pipeline.cli.app import cli; cli.main(['--help'], standalone_mode=0)"
    )
    show = "; print(sorted({'pydantic', 'sqlite3', 'yaml'} & set(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", program + show], capture_output=True, text=True, check=True
    )
    assert done.stderr == "[]\n"
    assert "Everyday:" in done.stdout


def test_a_mistyped_command_gets_the_closest_names() -> None:
    """The names are known without importing the commands."""
    with pytest.raises(click.UsageError) as refused:
        cli.main(["serch"], standalone_mode=False)
    assert "'search'" in refused.value.format_message()
