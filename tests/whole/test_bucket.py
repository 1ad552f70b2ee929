"""Recipe of the docs for a bucket, with a real S3 server: a folder that rclone keeps."""

import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.paths import REPOSITORY
from tests.support.ports import free_port
from tests.support.program import run
from tests.support.skills import write_skill
from tests.support.waiting import wait_for

RCLONE = Path(sys.executable).with_name("rclone")
RECIPE = re.compile(r"^\$ rclone (sync team:skills /srv/skills .*)$", re.MULTILINE)


@pytest.fixture
def bucket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Serve a bucket named skills by S3 as the remote `team`; return the folder behind it."""
    port = free_port()
    folder = tmp_path / "s3/skills"
    folder.mkdir(parents=True)
    config = {
        "TYPE": "s3",
        "PROVIDER": "Rclone",
        "ENDPOINT": f"http://127.0.0.1:{port}",
        "ACCESS_KEY_ID": "key",
        "SECRET_ACCESS_KEY": "secret",
    }
    for name, value in config.items():
        monkeypatch.setenv(f"RCLONE_CONFIG_TEAM_{name}", value)
    monkeypatch.setenv("RCLONE_CONFIG", "")
    server = subprocess.Popen(
        [RCLONE, "serve", "s3", "--auth-key", "key,secret", "--addr", f"127.0.0.1:{port}",
         "--vfs-cache-poll-interval", "0", "--dir-cache-time", "0", folder.parent],
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for(lambda: _listens(port))
        yield folder
    finally:
        server.kill()
        server.wait()


def _listens(port: int) -> bool:
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


def sync(root: Path) -> int:
    """Run the recipe for a root, and return its exit code."""
    match = RECIPE.search((REPOSITORY / "docs/how-to/teams.md").read_text("utf-8"))
    assert match
    words = [str(root) if word == "/srv/skills" else word for word in shlex.split(match[1])]
    return subprocess.run([RCLONE, *words], env=os.environ, check=False).returncode


def test_a_bucket_is_a_folder_that_rclone_keeps(bucket: Path, tmp_path: Path) -> None:
    """New, changed and deleted objects become new, changed and removed skills."""
    root = tmp_path / "watched"
    root.mkdir()
    (tmp_path / "skilldrop.toml").write_text("settle_quiet = 0.05\n")
    write_skill(bucket / "one")
    write_skill(bucket / "two")
    assert sync(root) == 0
    assert run("scan").returncode == 0
    assert "2 active" in run("status").stdout
    write_skill(bucket / "one", description="Changed.")
    (bucket / "two/SKILL.md").unlink()
    assert sync(root) == 0
    assert run("scan").returncode == 0
    assert "1 active, 1 removed" in run("status").stdout
    assert "Changed." in run("read", "one").stdout
    assert run("reconcile", "--check").returncode == 0


def test_an_emptied_bucket_does_not_empty_the_root(bucket: Path, tmp_path: Path) -> None:
    """Rclone stops before more deletions than the recipe allows."""
    root = tmp_path / "watched"
    root.mkdir()
    for number in range(60):
        write_skill(bucket / f"s{number}")
    assert sync(root) == 0
    for number in range(60):
        (bucket / f"s{number}/SKILL.md").unlink()
    assert sync(root) != 0
    assert len(list(root.glob("*/SKILL.md"))) >= 10
