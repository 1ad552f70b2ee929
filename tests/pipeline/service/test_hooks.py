"""Hooks of commands, and their settings."""

import json
import sys
from pathlib import Path

import pytest

from tests.support.program import run
from tests.support.skills import write_skill


def configure(folder: Path, text: str) -> None:
    """Write settings with one hook."""
    (folder / "skilldrop.toml").write_text(f"settle_quiet = 0.0\n[[hooks]]\n{text}\n")


def test_a_scan_tells_each_hook_once(tmp_path: Path) -> None:
    """A scan tells its hooks at its end; a failure exits with 1 and is told by the next scan."""
    told = tmp_path / "told"
    script = tmp_path / "hook.py"
    script.write_text(f"import sys; open({str(told)!r}, 'a').write(sys.stdin.read() + chr(10))")
    command = json.dumps([sys.executable, str(script)])
    configure(tmp_path, f'name = "log"\non = ["published"]\ncommand = {command}')
    write_skill(tmp_path / "watched/a")
    assert run("scan").returncode == 0
    (line,) = told.read_text().splitlines()
    assert [event["name"] for event in json.loads(line)["events"]] == ["a"]
    script.rename(tmp_path / "away")
    write_skill(tmp_path / "watched/b")
    done = run("scan")
    assert (done.returncode, "hook log did not get" in done.stderr) == (1, True)
    (tmp_path / "away").rename(script)
    assert run("scan").returncode == 0
    assert [event["name"] for event in json.loads(told.read_text().splitlines()[1])["events"]] == [
        "b"
    ]
    assert run("scan").returncode == 0
    assert len(told.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('on = ["published"]\nurl = "http://x/"', "has no name"),
        ('name = "a"\non = ["publshed"]\nurl = "http://x/"', "must be a list of danger, published"),
        ('name = "a"\non = []\nurl = "http://x/"', "must be a list of danger, published"),
        ('name = "a"\non = ["added"]', "needs either url or command"),
        ('name = "a"\non = ["added"]\nurl = "ftp://x/"', "http or https"),
        ('name = "a"\non = ["added"]\nurl = "http://u:hunter2@x/"', "has a user name or password"),
        ('name = "a"\non = ["added"]\ncommand = ["x"]\nsecret_env = "A"', "no secret"),
    ],
)
def test_a_hook_that_cannot_work_is_refused(tmp_path: Path, text: str, message: str) -> None:
    """With one sentence that names the key."""
    configure(tmp_path, text)
    done = run("scan")
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert "hunter2" not in done.stderr
