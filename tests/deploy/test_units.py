"""The systemd units and the settings of a server."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pipeline.config.loader import load
from tests.support.paths import REPOSITORY

UNITS = sorted((REPOSITORY / "deploy").glob("*.service"))


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_finds_no_fault_in_a_unit(tmp_path: Path, unit: Path) -> None:
    """The real systemd-analyze reads it, with a program that exists here."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd is not installed here")
    text = unit.read_text("utf-8")
    for program in ("/opt/skilldrop/.venv/bin/skilldrop", "/usr/bin/litestream"):
        text = text.replace(f"ExecStart={program}", f"ExecStart={shutil.which('true')}")
    copy = tmp_path / unit.name
    copy.write_text(text.replace("file:///opt/skilldrop", f"file://{REPOSITORY}"))
    command = ["systemd-analyze", "verify", "--man=no", str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    mine = [line for line in done.stderr.splitlines() if unit.name in line]
    assert (done.returncode, mine) == (0, []), done.stderr


def test_the_settings_of_a_server_are_valid() -> None:
    """They name the directories that the unit may use."""
    settings = load(REPOSITORY / "deploy/skilldrop.toml")
    assert settings.data == Path("/var/lib/skilldrop").resolve()
    assert [root.path for root in settings.root_specs] == ["/srv/skills"]
    assert f"--data {settings.data} " in UNITS[-1].read_text("utf-8")
