"""Timer of systemd that repeats a pull for one user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from catalog.pull.folder import NotPossible

USUAL = 900.0
"""Seconds between two pulls."""

_SERVICE = """\
[Unit]
Description=Skills of {site}

[Service]
Type=oneshot
ExecStart={command}
"""
_TIMER = """\
[Unit]
Description=Skills of {site}

[Timer]
OnActiveSec=0
OnBootSec=1min
OnUnitActiveSec={seconds:.0f}

[Install]
WantedBy=timers.target
"""


def install(site: str, folder: Path, arguments: list[str], every: float | None, yes: bool) -> int:
    """Write the units of a folder, start its timer, and return the exit code.

    Raises NotPossible on a machine without systemd.
    """
    systemctl = shutil.which("systemctl")
    if not systemctl:
        raise NotPossible("This machine has no systemd; let --every repeat it instead.")
    place = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd/user"
    name = "skilldrop-pull-" + "-".join(folder.absolute().parts[1:]).replace(".", "")
    units = [place / f"{name}.service", place / f"{name}.timer"]
    if not yes:
        if not sys.stdin.isatty():
            raise NotPossible("Nobody can be asked here; add --yes.")
        question = f"Write {units[0]} and {units[1].name}, and start the timer? [y/N] "
        if input(question).strip().lower() not in ("y", "yes"):
            return 1
    program = os.path.abspath(sys.argv[0])
    start = [sys.executable, program, *([] if program.endswith(".pyz") else ["pull"])]
    command = " ".join(map(_quoted, [*start, *arguments]))
    place.mkdir(parents=True, exist_ok=True)
    for unit, text in zip(units, (_SERVICE, _TIMER)):
        unit.write_text(text.format(site=site, command=command, seconds=every or USUAL), "utf-8")
        unit.chmod(0o600)  # its address may contain a token
    for words in (["daemon-reload"], ["enable", "--now", units[1].name]):
        done = subprocess.run([systemctl, "--user", *words], capture_output=True, text=True)
        if done.returncode:
            raise NotPossible(
                f"{units[0]} and {units[1].name} are written, but systemctl says: "
                f"{done.stderr.strip()}"
            )
    print(
        f"{units[1].name} pulls every {(every or USUAL) / 60:g} minutes."
        f" Its output: journalctl --user -u {name}"
    )
    return 0


def _quoted(word: str) -> str:
    """Return a word as systemd reads it back."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'
