"""Virtual environment with Datasette and sqlite-utils, and without skilldrop."""

import fcntl
import shutil
import subprocess
import sys
import sysconfig
import venv
from importlib.metadata import distribution
from pathlib import Path

from packaging.requirements import Requirement

from tests.support.paths import REPOSITORY

PROGRAMS = ("datasette", "sqlite-utils")
FOLDER = REPOSITORY / ".cache" / "bare"


def interpreter() -> Path:
    """Return its Python; make the environment if it is missing or has other packages.

    Other test processes wait for the one that makes it.
    """
    packages = _installed()
    stamp, wanted = FOLDER / "made-with", "\n".join([sys.version, *map(str, packages.values())])
    FOLDER.parent.mkdir(exist_ok=True)
    with FOLDER.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.is_file() or stamp.read_text("utf-8") != wanted:
            _make(packages)
            stamp.write_text(wanted, "utf-8")  # last, so that half an environment is made again
    return FOLDER / "bin" / "python"


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run its Python, which ignores PYTHONPATH and the working directory, to its end."""
    return subprocess.run(
        [interpreter(), "-I", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def _installed() -> dict[str, Path]:
    """Return what the programs and all that they require have installed here, by its name."""
    found: dict[str, Path] = {}
    waiting, seen = list(PROGRAMS), set(PROGRAMS)
    while waiting:
        package = distribution(waiting.pop())
        for file in package.files or ():
            if file.parts[0] not in ("..", "__pycache__"):
                found[file.parts[0]] = Path(str(package.locate_file(file.parts[0])))
        for requirement in map(Requirement, package.requires or ()):
            is_needed = not requirement.marker or requirement.marker.evaluate({"extra": ""})
            if is_needed and requirement.name not in seen:
                seen.add(requirement.name)
                waiting.append(requirement.name)
    return found


def _make(packages: dict[str, Path]) -> None:
    """Make an environment in which nothing else is installed."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    venv.create(FOLDER, symlinks=True)
    places = {"base": str(FOLDER), "platbase": str(FOLDER)}
    for name, path in packages.items():
        # Copies: a deletion must not find the installed packages, not even by a link.
        target = Path(sysconfig.get_path("purelib", "venv", places)) / name
        shutil.copytree(path, target) if path.is_dir() else shutil.copy2(path, target)
