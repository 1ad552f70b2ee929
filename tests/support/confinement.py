"""Runner of commands that can write to one folder only."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_SCRIPT = """
set -e
folder=$1; shift
mount --make-rprivate /
mount --bind "$folder" "$folder"
while read -r _ _ _ _ point _ rest; do
  case "$point" in
    /dev/shm) ;;
    "$folder" | /proc | /proc/* | /sys | /sys/* | /dev | /dev/*) continue ;;
  esac
  mount -o remount,bind,ro "$point"
done </proc/self/mountinfo
if touch "$folder/../written" 2>/dev/null; then rm "$folder/../written"; exit 97; fi
exec "$@"
"""
_UNCONFINED = 97


def run_confined(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command in a mount namespace in which all is read-only but a folder, and no device.

    The test is skipped, and the command not run, where there is no such namespace to be had.
    """
    if not shutil.which("unshare"):
        pytest.skip("there is no unshare(1) here")
    (folder / "tmp").mkdir(exist_ok=True)
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", _SCRIPT, "sh", str(folder), *command],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=60,
        env=os.environ | {"TMPDIR": str(folder / "tmp")},
    )
    if done.returncode == _UNCONFINED or done.stderr.startswith(("unshare:", "mount:")):
        pytest.skip("no mount namespace can be made here, or not all of it made read-only")
    return done
