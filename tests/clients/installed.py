"""Pinned clients from npm and PyPI, installed once into a cache folder."""

import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.paths import REPOSITORY

PINS = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or REPOSITORY / ".cache") / "skilldrop-clients"
LONGEST = 1800
"""Seconds that an installation may take: npm's clients are two gigabytes."""

INSTALLATIONS = {
    "npm": (
        ["package.json", "package-lock.json"],
        # Not `npm ci`, which fails if a registry lacks the binaries of another platform.
        [["npm", "install", "--no-save"]],
    ),
    "python": (
        ["requirements.txt"],
        [
            [sys.executable, "-m", "venv", "venv"],
            ["venv/bin/python", "-m", "pip", "install", "--quiet", "-r", "requirements.txt"],
        ],
    ),
}
"""Files with the pinned versions, and the commands that install them, by folder of the cache."""


class Absent(Exception):
    """Clients that cannot be installed here, with the reason."""


def npm_programs() -> Path:
    """Return the folder of the programs of package.json; raise Absent."""
    if not shutil.which("npm"):
        raise Absent("npm is not installed")
    return _folder("npm") / "node_modules/.bin"


def python_programs() -> Path:
    """Return the folder of the programs of requirements.txt; raise Absent."""
    return _folder("python") / "venv/bin"


def npm_version(package: str) -> str:
    """Return the pinned version of an npm package."""
    return str(json.loads((PINS / "package.json").read_text())["dependencies"][package])


def python_version(package: str) -> str:
    """Return the pinned version of a package from PyPI."""
    lines = (PINS / "requirements.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)[package]


def npm_installed(package: str) -> dict[str, Any]:
    """Return the package.json of an npm package as it is installed; raise Absent."""
    described = npm_programs().parent / package / "package.json"
    said: dict[str, Any] = json.loads(described.read_text())
    return said


def python_installed(package: str) -> dict[str, Any]:
    """Return the metadata of a package from PyPI as it is installed; raise Absent."""
    ask = (
        "import sys, json, importlib.metadata as m; print(json.dumps(m.metadata(sys.argv[1]).json))"
    )
    python = python_programs() / "python"
    done = subprocess.run([python, "-c", ask, package], capture_output=True, text=True, check=True)
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def _folder(name: str) -> Path:
    folder = CACHE / name
    failure = _install(name, folder)
    if failure:
        raise Absent(failure)
    return folder


@functools.cache
def _install(name: str, folder: Path) -> str:
    """Install once what is not there as pinned; return the error, or nothing."""
    pins, commands = INSTALLATIONS[name]
    stamp = folder / "installed"
    digest = hashlib.sha256(b"".join((PINS / pin).read_bytes() for pin in pins)).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return ""
    _say(f"Installing the clients of {pins[0]} in {folder} (once; minutes) ...")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for pin in pins:
        shutil.copy(PINS / pin, folder)
    for command in commands:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LONGEST)
        if done.returncode:
            return f"{' '.join(command)}: {done.stderr[-500:]}"
    stamp.write_text(digest)
    return ""


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    """Install all clients, and say which cannot be installed here."""
    for programs in (npm_programs, python_programs):
        try:
            _say(f"Clients in {programs()}")
        except Absent as reason:
            _say(f"No clients, their tests are skipped: {reason}")


if __name__ == "__main__":
    main()
