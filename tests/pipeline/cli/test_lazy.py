import json
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from pipeline.cli.app import cli
from pipeline.cli.lazy import LazyCommand, lazy_commands
from tests.support.skills import SkillWriter

LOADED = """
import json, sys
from pipeline.cli.app import main
try:
    main()
finally:
    print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
OF_THE_SERVICE = {"apscheduler", "datasette", "uvicorn", "watchdog", "asyncio", "mcp", "jinja2"}
OF_READING = {"yaml", "frontmatter", "pipeline.sync.engines.processes", "multiprocessing"}
OF_SETTINGS = {"pydantic", "pipeline.config.loader"}
OF_THE_CATALOG = {"sqlite3", "sqlite_utils"}
OF_READERS = OF_THE_SERVICE | OF_READING | OF_SETTINGS | {"pydantic_settings", "sqlite_utils"}

OF_VALIDATION = {"pydantic_settings", "multiprocessing", "pipeline.authoring.fixes.skill"}
OF_SCANS = {"pydantic_settings", "distributed", "sqlite_utils", "http.client", "jsonschema"}
OF_SCANS |= {"pipeline.outcomes.schema"}
OF_CHANGES = {
    "pipeline.validation.verdict",
    "yaml",
    "catalog.reading.browse",
    "catalog.writing.decisions",
}
OF_CHANGES |= {"pipeline.hooks.payload", "pipeline.mirrors.mirror", "importlib.metadata"}
OF_ARCHIVES = {"pipeline.roots.archives.reader", "tarfile"}


@pytest.mark.parametrize("command", list(lazy_commands()), ids=lambda command: command.name)
def test_a_command_is_listed_with_the_first_line_of_its_help(command: LazyCommand) -> None:
    """The list of commands, which is written separately, equals the help of the modules."""
    listed, real = command.get_short_help_str(200), command.real.get_short_help_str(200)
    assert (command.name, listed) == (command.real.name, real)


@pytest.mark.parametrize(
    ("words", "needless"),
    [
        (["--help"], OF_THE_SERVICE | OF_READING | OF_SETTINGS | OF_THE_CATALOG),
        (["serch"], OF_THE_SERVICE | OF_READING | OF_SETTINGS | OF_THE_CATALOG),
        (["search", "word"], OF_READERS | {"hashlib", "logging"}),
        (["read", "count-words"], OF_READERS),
        (["index"], OF_READERS),
        (["status"], OF_READERS | {"catalog.reading.browse", "catalog.reading.search"}),
        (["versions", "count-words"], OF_READERS),
        (["list"], OF_READERS),
        (["show", "count-words"], OF_READERS),
        (["validate", "watched"], OF_THE_SERVICE | OF_THE_CATALOG | OF_VALIDATION | OF_ARCHIVES),
        (["scan"], OF_THE_SERVICE | OF_SCANS | OF_SETTINGS | OF_CHANGES | OF_ARCHIVES),
        (["reconcile", "--check"], OF_THE_SERVICE | OF_SCANS),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, list) else "",
)
def test_a_command_imports_only_the_modules_that_it_needs(
    tmp_path: Path,
    skill: SkillWriter,
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    needless: set[str],
) -> None:
    """A query starts without the watcher, the writer, the settings' models and the site."""
    skill(tmp_path / "watched" / "count-words")
    with monkeypatch.context() as scanning:
        scanning.setenv("SKILLDROP_SETTLE_QUIET", "0")
        assert cli.main(["scan"], standalone_mode=False) == 0
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *words], capture_output=True, text=True, check=False
    )
    loaded = set(json.loads(done.stderr.splitlines()[-1]))
    assert "click" in loaded
    assert sorted(needless & loaded) == []


def test_a_shell_completes_commands_and_their_options() -> None:
    """Names are completed with their help; after a command its own options and choices are."""
    shell = ShellComplete(cli, {}, "skilldrop", "_SKILLDROP_COMPLETE")
    found = shell.get_completions([], "re")
    assert [item.value for item in found] == [
        "read",
        "reconcile",
        "reject",
        "remove",
        "replicate",
        "restore",
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
