"""Pinned clients from npm and PyPI, installed once into a cache folder."""

import functools
import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.paths import REPOSITORY

PINS = Path(__file__).parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or REPOSITORY / ".cache") / "skilldrop-clients"
LONGEST = 1800
"""Seconds that an installation may take: npm's clients are two gigabytes."""


class Absent(Exception):
    """Clients that cannot be installed here, with the reason."""


@functools.cache
def npm_programs() -> Path:
    """Return the folder of the programs of package.json; raise Absent."""
    if not shutil.which("npm"):
        raise Absent("npm is not installed")
    pins = [PINS / "package.json", PINS / "package-lock.json"]
    # Not `npm ci`, which fails if a registry lacks the binaries of another platform.
    return _installed("npm", pins, [["npm", "install", "--no-save"]]) / "node_modules/.bin"


@functools.cache
def python_programs() -> Path:
    """Return the folder of the programs of requirements.txt; raise Absent."""
    venv = [sys.executable, "-m", "venv", "venv"]
    install = ["venv/bin/python", "-m", "pip", "install", "--quiet", "-r", "requirements.txt"]
    return _installed("python", [PINS / "requirements.txt"], [venv, install]) / "venv/bin"


def npm_version(package: str) -> str:
    """Return the pinned version of an npm package."""
    return str(json.loads((PINS / "package.json").read_text())["dependencies"][package])


def python_version(package: str) -> str:
    """Return the pinned version of a package from PyPI."""
    lines = (PINS / "requirements.txt").read_text().splitlines()
    return dict(line.split("==") for line in lines if "==" in line)[package]


def _installed(name: str, pins: list[Path], commands: list[list[str]]) -> Path:
    folder = CACHE / name
    stamp = folder / "installed"
    digest = hashlib.sha256(b"".join(pin.read_bytes() for pin in pins)).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for pin in pins:
        shutil.copy(pin, folder)
    for command in commands:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LONGEST)
        if done.returncode:
            raise Absent(f"{command} failed: {done.stderr[-500:]}")
    stamp.write_text(digest)
    return folder
