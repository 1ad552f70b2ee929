"""The examples in the help of the commands, each run in a small world that has what they name."""

import glob
import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest

from pipeline.cli.app import cli, command_named
from tests.support.paths import REPOSITORY
from tests.support.program import run
from tests.support.skills import write_skill

NOT_RUN = re.compile(r" (up|serve|mcp)( |$)|--scheduler ")
"""Commands that run until they are stopped, and a cluster; other tests run them."""


def examples(name: str) -> list[str]:
    """Return the command lines in the help of a command, and of the commands in it."""
    command = command_named(name)
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    lines = "\n".join(each.help or "" for each in (command, *inner)).splitlines()
    shown = (line.strip() for line in lines if line.lstrip().startswith("skilldrop "))
    return [line for line in shown if not NOT_RUN.search(line)]


@contextmanager
def inside(world: Path) -> Iterator[None]:
    """Let the world be the home and the working directory of commands that do not wait."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(world)
        patch.setenv("HOME", str(world))
        patch.setenv("SKILLDROP_SETTLE_QUIET", "0")
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a world as `write_world` makes it, and a copy of it."""
    world, kept = tmp_path_factory.mktemp("world"), tmp_path_factory.mktemp("kept")
    with inside(world):
        write_world(world)
    shutil.copytree(world, kept, symlinks=True, dirs_exist_ok=True)
    return world, kept


@pytest.fixture
def world(made: tuple[Path, Path]) -> Iterator[Path]:
    """Return the world as it was made; its catalog names it, so it always lies at one place."""
    world, kept = made
    shutil.rmtree(world)
    shutil.copytree(kept, world, symlinks=True)
    with inside(world):
        yield world


def write_world(world: Path) -> None:
    """Write the roots, skills, archives and reports that the examples name."""
    settings = world / "skilldrop.toml"
    roots = "[[roots]]\npath = 'watched'\n[[roots]]\npath = 'team-a'\n"
    settings.write_text(f"{roots}namespace = 'folder'\nlevel = 'enterprise'\n")
    shutil.copytree(REPOSITORY / "watched/csv-profile", world / "watched/csv-profile")
    office = "metadata:\n  tags: [office, csv]"
    write_skill(world / "watched/report-writer", more=office)
    write_skill(world / "watched/team-b/csv-profile", name="other")
    write_skill(world / "team-a/team-a/csv-profile", more=office)
    assert run("scan").returncode == 0
    settings.write_text(settings.read_text().replace("path", "review = 'always'\npath"))
    write_skill(world / "team-a/team-a/csv-profile", description="Other text.", more=office)
    write_skill(world / "watched/csv-profile", description="Newer.", more="allowed-tools: Bash")
    assert run("scan").returncode == 0
    for name in ("my-skill", "skills/one", "old-skills/two", "~/drafts/word-count", "drafts/count"):
        write_skill(Path(name).expanduser())
    write_skill(world / "packed/three")
    for name in ("skills", "other-skill"):
        shutil.make_archive(str(world / name), "zip", world / "packed")
    shutil.copy(world / "skills.zip", world / "team-a")
    (world / "image").mkdir()
    (world / "agents").mkdir()
    for folder in (".claude", ".codex", "skills"):
        (world / folder).mkdir(exist_ok=True)
    (world / "runs").mkdir()
    for name in ("run-17.json", "runs/a.json"):
        (world / name).write_text('{"run_id": "17", "skillId": "csv-profile"}')
    assert run("link", "~/.claude/skills").returncode == 0


def version_of(skill: str, number: int) -> str:
    """Return the name of a version of a skill, of which the newest is 0."""
    history = json.loads(run("versions", skill, "--json").stdout)
    return str(history["versions"][number]["version"])


@pytest.mark.parametrize("name", [name for name in cli.commands if examples(name)])
def test_the_examples_of_a_command_can_be_pasted(world: Path, name: str) -> None:
    """None is a usage error, as with a missing skill, an unknown option or a wrong form."""
    if name == "unpin":
        assert run("pin", "csv-profile", version_of("csv-profile", -1)).returncode == 0
    for line in examples(name):
        of = "team-a:csv-profile" if "team-a/" in line else "csv-profile"
        line = re.split(r" [|>]", line)[0]
        line = line.replace(
            "20261120-140500", version_of(of, -1 if name in ("pin", "restore") else 0)
        )
        if name == "restore":
            assert run("remove", of).returncode == 0
        if "config init" in line:
            line += " --watched ~/mine --config mine.toml"
        words = [os.path.expanduser(word) for word in shlex.split(line)[1:]]
        words = [each for word in words for each in sorted(glob.glob(word)) or [word]]
        done = run(*words)
        assert done.returncode in (0, 1), f"{line}: {done.stderr}"
