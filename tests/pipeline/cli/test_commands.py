import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from pipeline.cli.app import cli
from tests.support.skills import SkillWriter

LOADED = """
import json, sys
from pipeline.cli.app import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
OF_THE_SERVICE = {"apscheduler", "datasette", "uvicorn", "watchdog", "mcp", "distributed"}


@pytest.mark.parametrize(
    "words",
    [
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
    ],
    ids=" ".join,
)
def test_a_short_command_starts_without_the_libraries_of_the_service(
    tmp_path: Path,
    skill: SkillWriter,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
) -> None:
    """A short command does not wait for the libraries of the service, the site and extras."""
    skill(tmp_path / "watched" / "count-words")
    with monkeypatch.context() as scanning:
        scanning.setenv("SKILLDROP_SETTLE_QUIET", "0")
        assert cli.main(["scan"], standalone_mode=False) == 0
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], capture_output=True, text=True, check=False
    )
    loaded = set(json.loads(done.stderr.splitlines()[-1]))
    assert "click" in loaded
    assert sorted(OF_THE_SERVICE & loaded) == []


def test_a_shell_completes_commands_and_their_options() -> None:
    """Names are completed with their help; after a command its own options and choices are."""
    shell = ShellComplete(cli, {}, "skilldrop", "_SKILLDROP_COMPLETE")
    found = shell.get_completions([], "re")
    assert [item.value for item in found] == [
        "read",
        "reconcile",
        "reject",
        "remove",
    ]
    assert (found[0].help or "").startswith("Print a published FILE")
    assert [item.value for item in shell.get_completions(["validate", "--format"], "s")] == [
        "sarif"
    ]


def test_a_mistyped_command_gets_the_closest_names() -> None:
    """The names are known without importing the commands."""
    with pytest.raises(click.UsageError) as refused:
        cli.main(["serch"], standalone_mode=False)
    assert "'search'" in refused.value.format_message()
