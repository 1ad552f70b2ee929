"""Commands that make, check and show the settings, and the hint that a change needs a restart."""

import json
import os
import pty
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.paths import REPOSITORY
from tests.support.program import run
from tests.support.serving import Serving
from tests.support.skills import write_skill

PROGRAM = Path(sys.executable).with_name("skilldrop")


def test_after_init_every_directory_has_the_same_catalog(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is commented, names both folders, and is not written over."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    done = run("config", "init", "--watched", "mine")
    assert (done.returncode, "`skilldrop up` now watches mine" in done.stdout) == (0, True)
    write_skill(tmp_path / "mine/word-count")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert run("scan", SKILLDROP_SETTLE_QUIET="0").returncode == 0
    assert "word-count" in run("list").stdout
    assert (tmp_path / "home/.local/share/skilldrop/catalog.db").exists()
    assert not any((tmp_path / "elsewhere").iterdir())
    again = run("config", "init", "--watched", "mine")
    assert (again.returncode, "exists already" in again.stderr) == (2, True)


def test_init_of_another_file_names_the_command_that_reads_it() -> None:
    """Without --config, `up` would read the usual file."""
    said = run("--config", "my own.toml", "config", "init", "--watched", "mine").stdout
    assert "`skilldrop --config 'my own.toml' up` now watches mine." in said


def test_init_asks_for_the_folder_on_a_terminal_only(tmp_path: Path) -> None:
    """The answer becomes the root, and the folder is made; a program must name it."""
    assert "--watched DIR" in run("config", "init").stderr
    terminal, end = pty.openpty()
    with subprocess.Popen([PROGRAM, "config", "init"], stdin=end, stdout=subprocess.PIPE) as asking:
        os.close(end)
        os.write(terminal, b"~/team skills\n")
        output, _ = asking.communicate()
    os.close(terminal)
    assert (asking.returncode, b"Folder of your skills" in output) == (0, True)
    assert (tmp_path / "team skills").is_dir()
    shown = json.loads(run("config", "show", "--json").stdout)
    (watched,) = (each for each in shown if each["name"] == "watched")
    assert watched["value"] == str(tmp_path / "team skills")


def test_show_says_where_each_value_comes_from(tmp_path: Path) -> None:
    """File, environment, command line or default, also within tables and lists of tables."""
    (tmp_path / "skilldrop.toml").write_text(
        "[site]\nport = 8005\n[[roots]]\npath = 'team'\nlevel = 'enterprise'\n"
    )
    words = ("--data", "d", "config", "show")
    lines = run(*words, SKILLDROP_SITE__HOST="::1").stdout.splitlines()
    assert "site.port = 8005  # skilldrop.toml" in lines
    assert 'site.host = "::1"  # the environment' in lines
    assert f'data = "{tmp_path}/d"  # the command line' in lines
    assert 'roots.1.level = "enterprise"  # skilldrop.toml' in lines
    assert "site.sql is not set  # the defaults" in lines
    assert not [line for line in lines if line.startswith("watched")]


@pytest.mark.parametrize("command", ["config check", "status", "list", "scan"])
def test_every_command_refuses_a_mistake_in_the_settings(tmp_path: Path, command: str) -> None:
    """Also in a table that the command does not use."""
    file = tmp_path / "skilldrop.toml"
    file.write_text("[validate]\nignore = ['advcie']\n")
    done = run(*command.split())
    assert done.returncode == 2
    assert "skilldrop.toml: [validate] ignore names 'advcie'" in done.stderr
    assert "the nearest is advice." in done.stderr
    file.write_text("[validate]\nignore = ['advice']\n")
    (tmp_path / "watched").mkdir(exist_ok=True)
    assert run("config", "check").stdout == "skilldrop.toml: no mistake; 1 root.\n"


def test_the_check_finds_a_root_and_a_secret_that_are_not_there(tmp_path: Path) -> None:
    """Both are sentences; the rest of the settings is right."""
    hooks = [("chat", "NO_SUCH"), ("fine", "PATH")]
    (tmp_path / "skilldrop.toml").write_text(
        '[[roots]]\npath = "typo"\n'
        + "".join(
            f'[[hooks]]\nname = "{name}"\non = ["added"]\nurl = "https://x.example"\n'
            f'secret_env = "{value}"\n'
            for name, value in hooks
        )
    )
    done = run("config", "check")
    assert done.returncode == 1
    root, chat = done.stdout.splitlines()
    assert f"The root {tmp_path}/typo cannot be read: No such file or directory." in root
    assert chat.endswith("The hook chat needs the variable NO_SUCH, which is not set.")


def test_status_says_when_the_settings_need_a_restart(tmp_path: Path) -> None:
    """A service keeps the settings of its start; a file from before needs none."""
    it = Serving(tmp_path).start()
    file = tmp_path / "skilldrop.toml"
    file.write_text("")
    words = ("--config", file, "--watched", it.root, "--data", it.settings.data, "status")
    os.utime(file, (0, 0))
    assert "restart" not in run(*words).stdout
    assert f"\nsettings {file}\n" in run(*words).stdout
    os.utime(file)
    assert "skilldrop.toml was changed after the service started; restart" in run(*words).stdout
    it.stop()
    assert "restart" not in run(*words).stdout


def test_a_clone_ignores_the_settings_of_the_user(tmp_path: Path) -> None:
    """`make up` names the folders of the clone in a file of its own."""
    user = tmp_path / ".config/skilldrop/skilldrop.toml"
    user.parent.mkdir(parents=True)
    user.write_text("this raises")
    clone = tmp_path / "clone"
    clone.mkdir()
    shutil.copy(REPOSITORY / "Makefile", clone)
    shutil.copy(REPOSITORY / "pyproject.toml", clone)
    (clone / ".venv/bin").mkdir(parents=True)
    (clone / ".venv/bin/skilldrop").symlink_to(PROGRAM)
    (clone / ".venv/ready").touch()
    subprocess.run(["make", "--silent", "skilldrop.toml"], cwd=clone, check=True)
    shown = subprocess.run(
        [PROGRAM, "config", "show"], cwd=clone, check=True, capture_output=True, text=True
    ).stdout
    assert f'watched = "{clone}/watched"  # skilldrop.toml' in shown
    assert f'data = "{clone}/var"  # skilldrop.toml' in shown
