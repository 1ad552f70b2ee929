"""Commands by which `make release` tries a wheel, without its building."""

import re
import subprocess
import sys
from pathlib import Path

from tests.support.paths import REPOSITORY


def test_a_fresh_installation_passes_what_a_release_tries(tmp_path: Path) -> None:
    """The first settings, a new skill once its template is filled in, a scan and a read."""
    makefile = (REPOSITORY / "Makefile").read_text("utf-8")
    (tried,) = re.findall(r"&& (bin/skilldrop config init .*?)\n\t@", makefile, re.DOTALL)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/skilldrop"
    program.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).with_name("skilldrop")}" "$@"\n')
    program.chmod(0o755)
    done = subprocess.run(
        ["sh", "-c", tried],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "SKILLDROP_SETTLE_QUIET": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 added" in done.stdout
